// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scs::spa {

/// AUX channels that PipeWire has names for. Ambisonics of order 7 needs as many.
inline constexpr uint32_t most_aux = 64;

/// The channels of a layout in the order of the outputs, as SPA numbers them: by its name ("5.1"), or a list of
/// PipeWire's names for channels ("FL,FR" or "[ FL FR ]"). Upper and lower case don't matter. Empty text: empty.
/// Nothing: there is no such layout or channel, or a channel is there twice. [any but rt]
std::optional<std::vector<uint32_t>> read_layout(std::string_view text);

/// What read_layout() takes, for errors. [any but rt]
std::string layout_choices();

/// The channel of each of `count` ports with that layout. Without one, FL and FR for the first two of several, so that
/// a stereo sink's ports match. What the layout has no channel for has no place in a room. [any but rt]
std::vector<uint32_t> place_channels(const std::vector<uint32_t>& layout, uint32_t count);

/// PipeWire's name: "FL"; and names with spaces between. [any but rt]
std::string channel_name(uint32_t channel);
std::string channel_names(const std::vector<uint32_t>& channels);

} // namespace scs::spa

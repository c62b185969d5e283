// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

/// What a synth tells: SendTrig an ID and a value, SendReply a path, an ID and values.
struct SynthEvent {
    int32_t node = 0;
    int32_t id = 0;
    std::string_view path; ///< empty: a trigger
    std::span<const float> values;
    int frame = 0; ///< in the block
};

} // namespace scs

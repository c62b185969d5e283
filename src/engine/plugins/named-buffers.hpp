// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace scs {

/// The buffers that a plugin's command may work on: every number among its arguments that is one's. Nothing else says
/// what a plugin is going to touch.
class NamedBuffers {
public:
    NamedBuffers() noexcept = default;
    /// [rt] `arguments`: an OSC message without its address, or none. If there are none, or too many to look at, it may
    /// be any buffer. `buffers`: how many there are.
    NamedBuffers(const std::optional<std::span<const std::byte>>& arguments, int buffers) noexcept;

    /// Adds a number of an argument, if it is a buffer's.
    void add(double number, int buffers) noexcept;
    JobBuffers get() const noexcept { return {std::span(numbers_).first(count_), any_}; }

private:
    std::array<int32_t, 16> numbers_{};
    size_t count_ = 0;
    bool any_ = false;
};

} // namespace scs

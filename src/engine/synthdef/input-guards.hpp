// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <cstdint>
#include <vector>

namespace scs {

/// An input that its unit takes for an index or a size without looking at it: it gets a wire of its own, which
/// follows the signal within these limits. Anything that is no number becomes the lower one.
struct InputGuard {
    std::uint32_t unit = 0;
    std::uint32_t input = 0;
    float low = 0, high = 0;

    float apply(float value) const noexcept { return value > low ? (value < high ? value : high) : low; }
};

/// [worker] The guards that a valid definition needs, in the order of its units. Constants that are in range need
/// none.
std::vector<InputGuard> input_guards(const SynthDef& def);

} // namespace scs

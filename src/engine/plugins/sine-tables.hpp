// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace scs {

/// The tables that oscillators of the plugin ABI share: a sine of 8192 samples (and one more), its reciprocal
/// with 1e20 where that is out of hand, and the sine as a wavetable (pairs of 2a - b, b - a).
struct SineTables {
    static constexpr int size = 8192;
    std::array<float, size + 1> sine;
    std::array<float, size + 1> cosecant;
    std::array<float, 2 * size> wavetable;
    SineTables();
};

} // namespace scs

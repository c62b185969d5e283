// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace scs {

/// The tables that plugins' oscillators share: a sine of 8192 samples (and one more), its reciprocal (1e20 near the
/// zeros), and the sine as a wavetable (pairs of 2a - b, b - a).
struct SineTables {
    static constexpr int size = 8192;
    std::array<float, size + 1> sine;
    std::array<float, size + 1> cosecant;
    std::array<float, 2 * size> wavetable;
    SineTables();
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/sine-tables.hpp"

#include <cmath>

namespace scs {

SineTables::SineTables() {
    constexpr double step = 6.28318530717958647692 / size;
    constexpr float out_of_hand = 1e20f;
    constexpr int margin = 8; // samples on each side of a zero crossing
    for (int i = 0; i <= size; ++i) {
        sine[size_t(i)] = float(std::sin(i * step));
        const int from_zero = i % (size / 2);
        const bool near_zero = from_zero <= margin || from_zero >= size / 2 - margin;
        cosecant[size_t(i)] = near_zero ? out_of_hand : float(1. / sine[size_t(i)]);
    }
    for (int i = 0; i < size; ++i) {
        const float a = sine[size_t(i)];
        const float b = sine[size_t((i + 1) % size)];
        wavetable[size_t(2 * i)] = 2.f * a - b;
        wavetable[size_t(2 * i + 1)] = b - a;
    }
}

} // namespace scs

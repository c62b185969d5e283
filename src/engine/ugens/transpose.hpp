// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Transposes a square of samples: from rows of lanes, one for each frame, to rows of frames, one for each lane.

#include "engine/base/nonblocking.hpp"
#include "engine/simd/lanes.hpp"

#include <utility>

namespace scs::SCS_SIMD {
namespace detail {

using Row = F32<lanes>::Part;

template <class Pick, int... I>
SCS_INLINE Row pick(Row a, Row b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, Pick::index(I)...);
}
template <class Pick>
SCS_INLINE Row pick(Row a, Row b) {
    return pick<Pick>(a, b, std::make_integer_sequence<int, lanes>());
}

// Within each four lanes: the lower or upper two of both, interleaved one by one, or two by two.
template <int Upper>
struct Ones {
    static constexpr int index(int i) { return i / 4 * 4 + Upper * 2 + i % 4 / 2 + i % 2 * lanes; }
};
template <int Upper>
struct Twos {
    static constexpr int index(int i) { return i / 4 * 4 + Upper * 2 + i % 2 + i % 4 / 2 * lanes; }
};
// Groups of four lanes: every second one of a, then of b.
template <int Odd>
struct Fours {
    static constexpr int index(int i) {
        constexpr int groups = lanes / 4;
        const int group = i / 4 * 2 + Odd;
        return group < groups ? group * 4 + i % 4 : lanes + (group - groups) * 4 + i % 4;
    }
};

} // namespace detail

/// Before, rows[f] has the lanes of frame f. Afterwards rows[l] has the frames of lane l.
SCS_INLINE void transpose(F32<lanes> (&rows)[lanes]) {
    using namespace detail;
    Row t[lanes], u[lanes];
    for (int i = 0; i < lanes; i += 2) {
        t[i] = pick<Ones<0>>(rows[i].part[0], rows[i + 1].part[0]);
        t[i + 1] = pick<Ones<1>>(rows[i].part[0], rows[i + 1].part[0]);
    }
    for (int i = 0; i < lanes; i += 4) {
        u[i] = pick<Twos<0>>(t[i], t[i + 2]);
        u[i + 1] = pick<Twos<1>>(t[i], t[i + 2]);
        u[i + 2] = pick<Twos<0>>(t[i + 1], t[i + 3]);
        u[i + 3] = pick<Twos<1>>(t[i + 1], t[i + 3]);
    }
    // Four lanes q of u[4 g + c] now hold frames 4 g … of lane 4 q + c.
    if constexpr (lanes == 4) {
        for (int c = 0; c < 4; ++c)
            rows[c].part[0] = u[c];
    } else if constexpr (lanes == 8) {
        for (int c = 0; c < 4; ++c) {
            rows[c].part[0] = pick<Fours<0>>(u[c], u[4 + c]);
            rows[4 + c].part[0] = pick<Fours<1>>(u[c], u[4 + c]);
        }
    } else {
        for (int c = 0; c < 4; ++c) {
            const Row even1 = pick<Fours<0>>(u[c], u[4 + c]), even2 = pick<Fours<0>>(u[8 + c], u[12 + c]);
            const Row odd1 = pick<Fours<1>>(u[c], u[4 + c]), odd2 = pick<Fours<1>>(u[8 + c], u[12 + c]);
            rows[c].part[0] = pick<Fours<0>>(even1, even2);
            rows[4 + c].part[0] = pick<Fours<0>>(odd1, odd2);
            rows[8 + c].part[0] = pick<Fours<1>>(even1, even2);
            rows[12 + c].part[0] = pick<Fours<1>>(odd1, odd2);
        }
    }
}

} // namespace scs::SCS_SIMD

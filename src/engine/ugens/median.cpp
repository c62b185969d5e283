// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

enum { length, in };

constexpr int most = 32;

/// The last inputs, sorted. age: how many inputs came after each.
template <int N>
struct MedianState {
    static constexpr size_t items64 = 0;
    int32_t length[N];
    float value[most][N];
    int32_t age[most][N];
};

/// Replaces the oldest input and moves the new one to its place in the order.
template <int L>
SCS_INLINE float insert(MedianState<L>& s, int lane, float x) {
    const int last = s.length[lane] - 1;
    int at = 0;
    for (int i = 0; i <= last; ++i) {
        if (s.age[i][lane] == last)
            at = i;
        else
            ++s.age[i][lane];
    }
    const auto move = [&](int from) {
        s.value[at][lane] = s.value[from][lane];
        s.age[at][lane] = s.age[from][lane];
        at = from;
    };
    while (at > 0 && x < s.value[at - 1][lane])
        move(at - 1);
    while (at < last && x > s.value[at + 1][lane])
        move(at + 1);
    s.value[at][lane] = x;
    s.age[at][lane] = 0;
    return s.value[s.length[lane] >> 1][lane];
}

template <int L>
SCS_INLINE void insert_all(const Op& op, const Block& block, int n) {
    auto& s = state<MedianState<L>>(op, block);
    each_lane<L>(block, [&](int lane) {
        const LaneIn<L> from(op, block, in, lane);
        float* out = output(op, block) + lane;
        for (int i = 0; i < n; ++i)
            out[i * L] = insert(s, lane, from.at(i));
    });
}

template <int L>
struct Audio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { insert_all<L>(op, block, block.frames); }
};
template <int L>
struct Control {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { insert_all<L>(op, block, 1); }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<MedianState<1>>(op, block);
    const int32_t wanted = int_of(*input(op, block, length));
    s.length[0] = wanted < 1 ? 1 : wanted > most ? most : wanted;
    for (int i = 0; i < s.length[0]; ++i) {
        s.value[i][0] = *input(op, block, in);
        s.age[i][0] = i;
    }
    *output(op, block) = insert(s, 0, *input(op, block, in));
}

constexpr Kernel audio = lane_kernel<Audio, MedianState>(start);
constexpr Kernel control = lane_kernel<Control, MedianState>(start);

constexpr NativeUgen list[] = {
    {"Median",
     [](const Signature& s) -> const Kernel* {
         if (s.rate != Rate::audio)
             return &control;
         return s.audio(in) ? &audio : nullptr;
     }},
};

} // namespace

SCS_FAMILY(median)

} // namespace scs::SCS_SIMD

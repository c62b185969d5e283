// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/own-rate.hpp"

// Klang, Klank: banks of sines and of resonators, whose frequencies, levels and times are those at the start. The lanes
// of a vector are partials of one voice, also in a batch.

namespace scs::SCS_SIMD {
namespace {

constexpr int in_a_sum = 4; ///< partials; their sums are added up in the same order whatever vectors there are
constexpr int padding = 16; ///< more than 8 partials become a multiple of this
constexpr int widest = 2 * lanes < padding ? 2 * lanes : padding; ///< partials in a vector
constexpr int at_once = 64;                                       ///< frames
constexpr double log001 = -6.90775527898213705205;                // of 0.001

/// Sines: y = b1 * y1 - y2.
struct Sines {
    static constexpr size_t items = 3, first_partial = 2;
    static constexpr bool filters = false;
    enum { y1, y2, b1 };
    template <int W>
    SCS_INLINE static F32<W> next(F32<W>, const F32<W>* c) {
        return c[b1] * c[y1] - c[y2];
    }
    template <int W>
    SCS_INLINE static F32<W> heard(F32<W> y, const F32<W>*) {
        return y;
    }
};

/// Resonators: y = x + b1 * y1 + b2 * y2.
struct Resonators {
    static constexpr size_t items = 5, first_partial = 4;
    static constexpr bool filters = true;
    enum { y1, y2, b1, b2, a0 };
    template <int W>
    SCS_INLINE static F32<W> next(F32<W> x, const F32<W>* c) {
        return x + c[b1] * c[y1] + c[b2] * c[y2];
    }
    template <int W>
    SCS_INLINE static F32<W> heard(F32<W> y, const F32<W>* c) {
        return c[a0] * y;
    }
};

template <int N>
struct BankState {
    static constexpr size_t items64 = 1;
    float* partials[N]; ///< [item][partial]; null: there was no memory
    float x1[N], x2[N]; ///< Klank: the sums in the frames before
};

template <class Kind>
int partials_of(const Op& op) {
    return (int(op.inputs) - int(Kind::first_partial)) / 3;
}

/// With zeros after the last one, so that vectors are full.
SCS_INLINE int padded(int partials) {
    return partials <= 4 ? 4 : partials <= 8 ? 8 : (partials + padding - 1) / padding * padding;
}

/// Adds numbers to sums, four by four, or makes the first four the sums.
template <int W>
SCS_INLINE void add_fours(F32<W> v, float* sums, bool first) {
    alignas(64) float numbers[W];
    v.store(numbers);
    auto sum = F32<in_a_sum>::load(numbers);
    if (!first)
        sum = F32<in_a_sum>::load(sums) + sum;
    for (int i = in_a_sum; i < W; i += in_a_sum)
        sum += F32<in_a_sum>::load(numbers + i);
    sum.store(sums);
}

/// Computes some frames of a vector's partials and adds them to `sums`, or, of the first one, puts them there.
template <class Kind, int W>
SCS_INLINE void run_vector(float* partials, int all, const float* in, int stride, int frames, float* sums, bool first) {
    F32<W> c[Kind::items];
    for (size_t k = 0; k < Kind::items; ++k)
        c[k] = F32<W>::load(partials + k * size_t(all));
    for (int i = 0; i < frames; ++i) {
        const F32<W> y = Kind::template next<W>(Kind::filters ? in[i * stride] : 0.f, c);
        c[Kind::y2] = c[Kind::y1];
        c[Kind::y1] = y;
        add_fours<W>(Kind::template heard<W>(y, c), sums + in_a_sum * i, first);
    }
    c[Kind::y1].store(partials + Kind::y1 * all);
    c[Kind::y2].store(partials + Kind::y2 * all);
}

template <class Kind>
[[gnu::noinline]] void run_partials(float* partials, int all, const float* in, int stride, int frames, float* sums) {
    if (all == 4)
        return run_vector<Kind, 4>(partials, all, in, stride, frames, sums, true);
    if (all == 8)
        return run_vector<Kind, 8>(partials, all, in, stride, frames, sums, true);
    for (int at = 0; at < all; at += widest)
        run_vector<Kind, widest>(partials + at, all, in, stride, frames, sums, at == 0);
}

template <class Kind>
struct Bank {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<BankState<L>>(op, block);
            const int all = padded(partials_of<Kind>(op)), n = own_frames(op, block);
            each_lane<L>(block, [&](int lane) {
                float* out = output(op, block) + lane;
                float* const partials = s.partials[lane];
                const LaneIn<L> in(op, block, 0, lane);
                float x1 = s.x1[lane], x2 = s.x2[lane];
                alignas(64) float sums[at_once * in_a_sum];
                for (int done = 0; done < n; done += at_once) {
                    const int frames = n - done < at_once ? n - done : at_once;
                    if (partials)
                        run_partials<Kind>(partials, all, in.wire + done * in.stride, in.stride, frames, sums);
                    for (int i = 0; i < frames; ++i) {
                        const float* four = sums + i * in_a_sum;
                        const float x = partials ? (four[0] + four[1]) + (four[2] + four[3]) : 0.f;
                        out[(done + i) * L] = Kind::filters ? x - x2 : x;
                        x2 = x1;
                        x1 = x;
                    }
                }
                s.x1[lane] = x1;
                s.x2[lane] = x2;
                if (partials && Kind::filters)
                    forget_what_is_beyond(partials, 2 * all); // y1 and y2
            });
        }
    };

    /// As SuperCollider does after each block.
    static void forget_what_is_beyond(float* numbers, int count) {
        for (int i = 0; i < count; i += in_a_sum) {
            const auto y = F32<in_a_sum>::load(numbers + i), size = abs(y);
            select((size > F32<in_a_sum>(1e-15f)) & (size < F32<in_a_sum>(1e15f)), y, 0.f).store(numbers + i);
        }
    }

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<BankState<1>>(op, block);
        const int all = padded(partials_of<Kind>(op));
        s.partials[0] = claim<float>(block, Kind::items * size_t(all));
        *output(op, block) = 0.f;
        if (!s.partials[0])
            return complain_of_memory(op, block);
        __builtin_memset(s.partials[0], 0, Kind::items * size_t(all) * sizeof(float));
        const float first = Kind::filters ? 0.f : tune(op, block, Sines{});
        if constexpr (Kind::filters) {
            tune(op, block, Resonators{});
            run_first_frame(Run<1>::run, op, block);
            s.x1[0] = s.x2[0] = 0.f;
            __builtin_memset(s.partials[0], 0, 2 * size_t(all) * sizeof(float)); // y1 and y2
        } else {
            *output(op, block) = first;
        }
    }

    /// A bank without partials is silent.
    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, BankState>(start);
        made.stop = give_back<&BankState<1>::partials>;
        made.start_cost = 4000;
        made.takes_long = true;
        return made;
    }();

    static const Kernel* choose(const Signature& s) {
        if ((s.rate != Rate::audio && s.rate != Rate::control) || s.outputs != 1 ||
            s.inputs.size() < Kind::first_partial || (Kind::filters && s.rate == Rate::audio && !s.audio(0)))
            return nullptr;
        return &kernel;
    }

private:
    SCS_INLINE static float in(const Op& op, const Block& block, size_t index) { return *input(op, block, index); }
    // The functions for floats, as in SuperCollider: what they are off by goes into each of the partials' samples.
    static float sine(float x) { return float(sin(F64<1>(double(x)))[0]); }
    static float cosine(float x) { return float(cos(F64<1>(double(x)))[0]); }

    /// Returns the sum before the first frame.
    static float tune(const Op& op, const Block& block, Sines) {
        float* const c = state<BankState<1>>(op, block).partials[0];
        const int count = partials_of<Kind>(op), all = padded(count);
        const double radians = own_rate(op, block).radians;
        const auto scale = float(double(in(op, block, 0)) * radians),
                   offset = float(double(in(op, block, 1)) * radians);
        float sum = 0.f;
        for (int i = 0; i < count; ++i) {
            const size_t j = Kind::first_partial + 3 * size_t(i);
            const float w = in(op, block, j) * scale + offset, phase = in(op, block, j + 2);
            const float level = in(op, block, j + 1);
            if (phase != 0.f)
                sum += level * sine(phase);
            c[Sines::y1 * all + i] = level * sine(phase - w);
            c[Sines::y2 * all + i] = level * sine(phase - w - w);
            c[Sines::b1 * all + i] = 2.f * cosine(w);
        }
        return sum;
    }

    static void tune(const Op& op, const Block& block, Resonators) {
        float* const c = state<BankState<1>>(op, block).partials[0];
        const int count = partials_of<Kind>(op), all = padded(count);
        const UnitRate& rate = own_rate(op, block);
        const auto scale = float(double(in(op, block, 1)) * rate.radians);
        const auto offset = float(double(in(op, block, 2)) * rate.radians);
        for (int i = 0; i < count; ++i) {
            const size_t j = Kind::first_partial + 3 * size_t(i);
            const float w = in(op, block, j) * scale + offset;
            const float time = in(op, block, j + 2) * in(op, block, 3);
            const float r = time == 0.f ? 0.f : float(exp(F64<1>(log001 / double(time * float(rate.samples))))[0]);
            const float twice = 2.f * r, square = r * r;
            c[Resonators::b1 * all + i] = twice * (twice * cosine(w) / (1.f + square));
            c[Resonators::b2 * all + i] = -square;
            c[Resonators::a0 * all + i] = float(double(in(op, block, j + 1)) * 0.25);
        }
    }
};

constexpr NativeUgen list[] = {
    {"Klang", Bank<Sines>::choose},
    {"Klank", Bank<Resonators>::choose},
};

} // namespace

SCS_FAMILY(banks)

} // namespace scs::SCS_SIMD

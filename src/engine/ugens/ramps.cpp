// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/segments.hpp"

#include <type_traits>

namespace scs::SCS_SIMD {
namespace {

enum { from, to, duration, action };

template <int N>
struct LineState {
    static constexpr size_t items64 = 2;
    double level[N], growth[N]; ///< growth: what each sample adds, or multiplies by
    float end[N];
    int32_t counter[N]; ///< samples left; 0: ended; negative only if the duration was negative
};

int32_t count_of(const Op& op, const Block& block) {
    const double rate = own_rate(op, block).samples;
    return int_of(double(*input(op, block, duration)) * rate + 0.5);
}

/// Until 3.13 the first level is never heard.
bool begins_with_first(const Block& block) {
    return block.space->release >= Release::v3_14;
}

// put(): computes `count` samples and returns the next level. If `whole_block`, these are a block in which the line
// doesn't end. whole(): computes such a block with put(frame, sample), in single precision as four interleaved
// sequences, as in SuperCollider.

struct Straight {
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> level, F64<N> growth) {
        return level + growth;
    }
    template <int L>
    SCS_INLINE static double put(float* out, double level, double growth, int count, bool whole_block) {
        if (whole_block)
            return whole(F64<1>(level), F64<1>(growth), count, [&](int i, F32<1> y) { out[i * L] = y[0]; })[0];
        for (int i = 0; i < count; ++i) {
            out[i * L] = float(level);
            level += growth;
        }
        return level;
    }
    template <int N, class Put>
    SCS_INLINE static F64<N> whole(F64<N> level, F64<N> growth, int frames, Put&& put) {
        each_float_sum(convert<float>(level), convert<float>(growth), frames, put);
        return level + F64<N>(double(frames)) * growth;
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LineState<1>>(op, block);
        const double first = *input(op, block, from), last = *input(op, block, to);
        const int32_t count = count_of(op, block);
        s.end[0] = float(last);
        s.counter[0] = at_least_one(count);
        s.growth[0] = count == 0 ? 0.0 : (last - first) / s.counter[0];
        s.level[0] = count == 0 ? last : first + (begins_with_first(block) ? 0.0 : s.growth[0]);
        *output(op, block) = float(s.level[0]);
    }
};

struct Exponential {
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> level, F64<N> growth) {
        return level * growth;
    }
    template <int L>
    SCS_INLINE static double put(float* out, double level, double growth, int count, bool whole_block) {
        if (whole_block)
            return whole(F64<1>(level), F64<1>(growth), count, [&](int i, F32<1> y) { out[i * L] = y[0]; })[0];
        for (int i = 0; i < count; ++i) {
            out[i * L] = float(level);
            level *= growth;
        }
        return level;
    }
    template <int N, class Put>
    SCS_INLINE static F64<N> whole(F64<N> level, F64<N> growth, int frames, Put&& put) {
        each_float_power(convert<float>(level), convert<float>(growth), frames, put);
        return level * whole_power(growth, unsigned(frames));
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LineState<1>>(op, block);
        const double first = *input(op, block, from), last = *input(op, block, to);
        const int32_t count = count_of(op, block);
        s.end[0] = float(last);
        s.counter[0] = count;
        if (count != 0) {
            s.growth[0] = pow(F64<1>(last / first), F64<1>(1.0 / count))[0];
            s.level[0] = begins_with_first(block) ? first : first * s.growth[0];
        }
        *output(op, block) = float(count == 0 ? last : first);
    }
};

template <class Kind>
struct LineOf {
    template <class Form>
    struct Control {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<LineState<N>>(op, block);
            const auto counter = Form::get(s.counter);
            const auto level = Form::get(s.level);
            const auto running = counter > I32<N>(0);
            Form::put(output(op, block), 0, select(running, convert<float>(level), Form::get(s.end)));
            if (!any(running | (counter < I32<N>(0))))
                return;
            Form::keep(s.level, Kind::step(level, Form::get(s.growth)));
            Form::keep(s.counter, select(running, counter - I32<N>(1), 0));
            const auto ends = (counter == I32<N>(1)) | (counter < I32<N>(0));
            for (uint32_t left = any(ends) ? bitmask(ends) & block.live : 0; left; left &= left - 1) {
                const int lane = __builtin_ctz(left);
                done(op, block, lane, input(op, block, action)[lane]);
            }
        }
    };

    /// Computes a voice's block, with the end of the line if it lies there.
    template <int L>
    static void in_pieces(const Op& op, Block& block, int lane) {
        auto& s = state<LineState<L>>(op, block);
        float* out = output(op, block) + lane;
        const int n = block.frames;
        int count = 0;
        if (int32_t& counter = s.counter[lane]; counter != 0) {
            count = counter < 0 ? 0 : least(n, counter);
            s.level[lane] = Kind::template put<L>(out, s.level[lane], s.growth[lane], count, counter > n);
            counter = counter < 0 ? 0 : counter - count;
            if (counter == 0)
                done(op, block, lane, input(op, block, action)[lane]);
        }
        if (count < n)
            put_held<L>(out + count * L, s.end[lane], n - count);
    }
    static void lone(const Op& op, Block& block) SCS_NONBLOCKING { in_pieces<1>(op, block, 0); }

    /// Voices whose line runs through the whole block, or has ended before, are computed at once; the others one by
    /// one.
    static void batch(const Op& op, Block& block) SCS_NONBLOCKING {
        constexpr int N = lanes;
        auto& s = state<LineState<N>>(op, block);
        const int n = block.frames;
        float* out = output(op, block);
        const auto counter = Batch::get(s.counter);
        const auto over = counter == I32<N>(0), running = counter > I32<N>(n);
        const uint32_t together = bitmask(over | running) & block.live;
        if (together) {
            const auto end = Batch::get(s.end);
            if (bitmask(running) & together) {
                const auto level = Batch::get(s.level), growth = Batch::get(s.growth);
                const auto next = Kind::whole(
                    level, growth, n, [&](int i, F32<N> sample) { Batch::put(out, i, select(running, sample, end)); });
                Batch::keep(s.level, select(widen_mask(running), next, level));
                Batch::keep(s.counter, select(running, counter - I32<N>(n), counter));
            } else {
                for (int i = 0; i < n; ++i)
                    Batch::put(out, i, end);
            }
        }
        for (uint32_t left = block.live & ~together; left; left &= left - 1)
            in_pieces<N>(op, block, __builtin_ctz(left));
    }

    static constexpr Kernel control = [] {
        Kernel made = vector_kernel<Control, LineState, Scalar>(Kind::start);
        made.acts_when_done = true;
        return made;
    }();
    static constexpr Kernel audio = [] {
        Kernel made = control;
        made.lone = lone;
        made.batch = batch;
        return made;
    }();
    static const Kernel* choose(const Signature& s) {
        if constexpr (std::is_same_v<Kind, Straight>)
            if (s.outputs == 2)
                return &fine;
        return s.rate == Rate::audio ? &audio : &control;
    }

    /// With a second output: what the first is off by (see synthdef/fine-phases.hpp).
    template <int L>
    static void with_rest(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LineState<L>>(op, block);
        double level[L];
        int32_t counter[L];
        for (int lane = 0; lane < L; ++lane) {
            level[lane] = s.level[lane];
            counter[lane] = s.counter[lane];
        }
        if constexpr (L == 1)
            lone(op, block);
        else
            batch(op, block);
        const float* out = output(op, block);
        float* rest = output(op, block, 1);
        each_lane<L>(block, [&](int lane) {
            for (int i = 0; i < block.frames; ++i)
                rest[i * L + lane] =
                    i < counter[lane] ? float(level[lane] + s.growth[lane] * i - double(out[i * L + lane])) : 0.f;
        });
    }
    static void start_with_rest(const Op& op, Block& block) SCS_NONBLOCKING {
        Kind::start(op, block);
        *output(op, block, 1) = float(state<LineState<1>>(op, block).level[0] - double(*output(op, block)));
    }
    static constexpr Kernel fine = [] {
        Kernel made = control;
        made.start = start_with_rest;
        made.lone = with_rest<1>;
        made.batch = with_rest<lanes>;
        return made;
    }();
};

constexpr NativeUgen list[] = {
    {"Line", LineOf<Straight>::choose},
    {"XLine", LineOf<Exponential>::choose},
};

} // namespace

SCS_FAMILY(ramps)

} // namespace scs::SCS_SIMD

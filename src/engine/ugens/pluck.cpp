// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/delay-line.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/interpolation.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/recursive.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

// Pluck: a burst of the input circulates in a delay line and through a one-pole filter. A block is computed in pieces
// shorter than the delays. The line's output is computed for several frames at once, the filters for all voices of a
// batch at once. Voices whose parameters change, or whose delays are too short, are computed frame by frame.

enum { in, trigger, longest, time, decay, coefficient };
constexpr int longest_piece = 64; ///< frames

template <int N>
struct PluckState {
    static constexpr size_t items64 = 3;
    float* line[N];
    uint64_t left[N];           ///< frames of the input still to be fed into the line
    double last[N];             ///< the filter's last output
    uint32_t mask[N], next[N];  ///< of the line
    float delay[N], seconds[N]; ///< in the last block: frames, and the input in seconds
    float feedback[N], decay[N], coefficient[N], trigger[N];
};

constexpr float shortest = 2.f;
SCS_INLINE float not_shorter(float frames) {
    return frames < shortest ? shortest : frames;
}
SCS_INLINE float frames_of(float seconds, float rate, int64_t mask) {
    const float frames = seconds * rate, most = float(mask + 1);
    return not_shorter(frames > most ? most : frames);
}

/// The filter, entirely in double precision. scsynth rounds in between, which would make each frame wait longer for the
/// one before.
template <int N>
SCS_INLINE F64<N> filtered(F32<N> value, F32<N> coefficient, F64<N> last) {
    const auto wide = convert<double>(coefficient);
    return (F64<N>(1.0) - abs(wide)) * convert<double>(value) + wide * last;
}

constexpr float silence[lanes] = {};

/// What is needed to compute a voice's block.
struct Turn {
    DelayLine line;
    const float* fed; ///< input of the line, `stride` samples a frame
    int stride;       ///< 1; 0 if the input is silent
    int64_t whole;    ///< the delay's whole frames
    float part, feedback;

    SCS_INLINE int64_t oldest() const { return line.next - whole - 2; }
    /// How many frames can be computed before the first of them is read.
    SCS_INLINE int64_t ahead() const { return whole - 1; }
    SCS_INLINE bool readable() const { return whole + 2 <= line.mask + 1 && (oldest() >= 0 || !line.unfilled()); }

    /// Interpolates between four samples, of which pick(0) is the oldest.
    template <class Pick>
    SCS_INLINE static auto between(Pick&& pick, decltype(pick(0)) part) {
        return cubic(part, pick(3), pick(2), pick(1), pick(0));
    }
    /// Reads the line's output for the next `count` frames, a multiple of `lanes`.
    SCS_INLINE void read(float* to, int count) const {
        using F = F32<lanes>;
        for (int i = 0; i < count; i += lanes) {
            const int64_t at = (oldest() + i) & line.mask;
            if (at + lanes + 3 <= line.mask + 1)
                between([&](int k) SCS_INLINE_LAMBDA { return F::load(line.samples + at + k); }, F(part)).store(to + i);
            else
                for (int f = 0; f < lanes; ++f)
                    to[i + f] =
                        between([&](int k) SCS_INLINE_LAMBDA { return F32<1>(line.samples[(at + f + k) & line.mask]); },
                                F32<1>(part))[0];
        }
    }
    /// Writes the filter's next frames into the line.
    SCS_INLINE void write(const float* filtered, int from, int count) {
        using F = F32<lanes>;
        for (int i = 0; i < count; i += lanes, line.next += lanes) {
            const float* x = fed + stride * (from + i);
            const F stored = F::load(x) + F(feedback) * F::load(filtered + i);
            const int64_t at = line.next & line.mask;
            if (at + lanes <= line.mask + 1)
                stored.store(line.samples + at);
            else
                for (int f = 0; f < lanes; ++f)
                    line.samples[(at + f) & line.mask] = stored[f];
        }
    }
    /// Computes a frame.
    SCS_INLINE float step(float x, float delay, float fed_back, float coefficient, double& last) {
        const int64_t steps = whole_of(delay), place = line.next - steps;
        const bool unfilled = line.unfilled();
        float& to = line.samples[line.next & line.mask];
        ++line.next;
        if (unfilled && place + 1 < 0) {
            to = x;
            return 0.f;
        }
        const auto pick = [&](int k) {
            return F32<1>(unfilled && place - 2 + k < 0 ? 0.f : line.samples[(place - 2 + k) & line.mask]);
        };
        const auto value = between(pick, F32<1>(delay - float(steps)));
        last = filtered(value, F32<1>(coefficient), F64<1>(last))[0];
        const float made = float(last);
        to = x + fed_back * made;
        return made;
    }
};

template <int L>
struct Pluck {
    enum { fed, values, outs }; ///< sets of rows

    /// How many frames of the input a trigger feeds into the line. A negative number means without limit.
    SCS_INLINE static uint64_t burst(const Op& op, const Block& block, int lane) {
        const double frames = double(input(op, block, time)[lane]) * block.audio->samples + 0.5;
        return frames > -1.0 && frames < 0x1p62 ? uint64_t(int64_t(frames)) : UINT64_MAX;
    }

    SCS_INLINE static void feed(const Op& op, const Block& block, int lane, Turn& turn) {
        auto& s = state<PluckState<L>>(op, block);
        const float* from = input(op, block, in) + lane;
        const int n = block.frames;
        float* to = row(block, fed, lane);
        const LaneIn<L> triggers(op, block, trigger, lane);
        turn.fed = to;
        turn.stride = 1;
        const auto triggered = [&](float now) SCS_INLINE_LAMBDA {
            if (s.trigger[lane] <= 0.f && now > 0.f)
                s.left[lane] = burst(op, block, lane);
            s.trigger[lane] = now;
        };
        const auto next = [&](int i) SCS_INLINE_LAMBDA {
            to[i] = s.left[lane] ? from[i * L] : 0.f;
            s.left[lane] -= s.left[lane] != 0;
        };
        if (is_audio(op, trigger)) {
            for (int i = 0; i < n; ++i) {
                triggered(triggers.at(i));
                next(i);
            }
            return;
        }
        triggered(triggers.at(0));
        if (s.left[lane]) {
            for (int i = 0; i < n; ++i)
                next(i);
        } else {
            turn.fed = silence;
            turn.stride = 0;
        }
    }

    SCS_INLINE static bool moves(const Op& op, const Block& block, int lane) {
        const auto& s = state<PluckState<L>>(op, block);
        // With a trigger at audio rate, scsynth ignores changes of the coefficient once the line is full.
        const bool watched = !is_audio(op, coefficient) && (!is_audio(op, trigger) || s.next[lane] <= s.mask[lane]);
        return input(op, block, time)[lane] != s.seconds[lane] || input(op, block, decay)[lane] != s.decay[lane] ||
               (watched && input(op, block, coefficient)[lane] != s.coefficient[lane]);
    }

    /// Computes a block frame by frame. Not inlined, as it is large.
    [[gnu::noinline]] static void slowly(const Op& op, const Block& block, int lane, Turn turn, float* out) {
        auto& s = state<PluckState<L>>(op, block);
        const int n = block.frames;
        const LaneIn<L> c(op, block, coefficient, lane);
        if (!moves(op, block, lane)) {
            for (int i = 0; i < n; ++i)
                out[i] = turn.step(turn.fed[i * turn.stride], s.delay[lane], s.feedback[lane], c.at(i), s.last[lane]);
        } else {
            const float seconds = input(op, block, time)[lane], fade = input(op, block, decay)[lane];
            const double each = 1.0 / n;
            const auto slope = [&](float to, float from) { return float(double(to - from) * each); };
            float delay = s.delay[lane], feedback = s.feedback[lane], held = s.coefficient[lane];
            const float delay_slope = slope(frames_of(seconds, float(block.audio->samples), turn.line.mask), delay);
            const float feedback_slope = slope(feedback_of(F32<1>(seconds), F32<1>(fade))[0], feedback);
            const bool audio = is_audio(op, coefficient);
            const float coefficient_slope = slope(c.at(0), held);
            for (int i = 0; i < n; ++i, feedback += feedback_slope, held += coefficient_slope) {
                delay += delay_slope;
                out[i] = turn.step(turn.fed[i * turn.stride], not_shorter(delay), feedback, audio ? c.at(i) : held,
                                   s.last[lane]);
            }
            s.delay[lane] = not_shorter(delay);
            s.feedback[lane] = feedback;
            s.seconds[lane] = seconds;
            s.decay[lane] = fade;
            s.coefficient[lane] = c.at(0);
        }
        s.next[lane] = turn.line.kept_next();
    }

    /// Runs the filters of all voices for `count` frames, from and to their rows. Also writes the output, which may
    /// share memory with the coefficients.
    template <class In>
    SCS_INLINE static void filter(const Op& op, const Block& block, In in, int from, int count) {
        auto& s = state<PluckState<L>>(op, block);
        float *out = output(op, block) + from * L, *const rows = row(block, values, 0);
        const int stride = block.frames;
        auto last = F64<L>::load(s.last);
        for (int i = 0; i < count; i += lanes) {
            if constexpr (L == 1) {
                for (int f = i; f < i + lanes; ++f) {
                    last = filtered(F32<1>(rows[f]), in.at(from + f), last);
                    rows[f] = out[f] = float(last[0]);
                }
            } else {
                F32<lanes> square[lanes];
                for (int k = 0; k < lanes; ++k)
                    square[k] = F32<lanes>::load(rows + k * stride + i);
                transpose(square);
                for (int f = 0; f < lanes; ++f) {
                    last = filtered(square[f], in.at(from + i + f), last);
                    square[f] = convert<float>(last);
                    square[f].store(out + (i + f) * L);
                }
                transpose(square);
                for (int k = 0; k < lanes; ++k)
                    square[k].store(rows + k * stride + i);
            }
        }
        last.store(s.last);
    }

    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<PluckState<L>>(op, block);
        const int n = block.frames;
        Turn turns[L];
        uint32_t quick = 0, slow = 0, none = 0;
        int piece = longest_piece;
        double last[L];
        // Frame by frame first: these read their coefficients before the output is written, and keep their result in a
        // row.
        each_lane<L>(block, [&](int lane) SCS_INLINE_LAMBDA {
            if (!s.line[lane]) {
                none |= 1u << lane;
                return;
            }
            Turn& turn = turns[lane];
            turn.line = {s.line[lane], s.mask[lane], s.next[lane]};
            feed(op, block, lane, turn);
            turn.whole = whole_of(s.delay[lane]);
            turn.part = s.delay[lane] - float(turn.whole);
            turn.feedback = s.feedback[lane];
            if (turn.readable() && turn.ahead() >= lanes && !moves(op, block, lane)) {
                quick |= 1u << lane;
                piece = turn.ahead() < piece ? int(turn.ahead()) : piece;
            } else {
                slow |= 1u << lane;
                slowly(op, block, lane, turn, row(block, outs, lane));
                last[lane] = s.last[lane];
            }
        });
        const auto each_of = [](uint32_t set, auto&& f) SCS_INLINE_LAMBDA {
            for (; set; set &= set - 1)
                f(__builtin_ctz(set));
        };
        for (int from = 0, count; quick && from < n; from += count) {
            count = (n - from < piece ? n - from : piece) / lanes * lanes;
            each_of(quick, [&](int lane) SCS_INLINE_LAMBDA { turns[lane].read(row(block, values, lane), count); });
            const float* c = input(op, block, coefficient);
            using Form = Voices<L>;
            if (is_audio(op, coefficient))
                filter(op, block, AudioIn<Form>{c}, from, count);
            else
                filter(op, block, HeldIn<Form>{Form::control(c)}, from, count);
            each_of(quick,
                    [&](int lane) SCS_INLINE_LAMBDA { turns[lane].write(row(block, values, lane), from, count); });
        }
        each_of(quick, [&](int lane) SCS_INLINE_LAMBDA { s.next[lane] = turns[lane].line.kept_next(); });
        float* out = output(op, block);
        each_of(slow, [&](int lane) SCS_INLINE_LAMBDA {
            s.last[lane] = last[lane];
            for (int i = 0; i < n; ++i)
                out[i * L + lane] = row(block, outs, lane)[i];
        });
        each_of(none, [&](int lane) SCS_INLINE_LAMBDA {
            for (int i = 0; i < n; ++i)
                out[i * L + lane] = 0.f;
        });
        each_lane<L>(block, [&](int lane) SCS_INLINE_LAMBDA { s.last[lane] = zap(F64<1>(s.last[lane]))[0]; });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<PluckState<1>>(op, block);
    const double rate = block.audio->samples;
    const int64_t length = line_length(*input(op, block, longest), rate, block.frames);
    s.line[0] = claim<float>(block, size_t(length));
    if (!s.line[0])
        complain_of_memory(op, block);
    s.mask[0] = uint32_t(length - 1);
    s.seconds[0] = *input(op, block, time);
    s.decay[0] = *input(op, block, decay);
    s.coefficient[0] = *input(op, block, coefficient);
    s.delay[0] = frames_of(s.seconds[0], float(rate), length - 1);
    s.feedback[0] = feedback_of(F32<1>(s.seconds[0]), F32<1>(s.decay[0]))[0];
    *output(op, block) = 0.f;
}

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<Pluck, PluckState>(start);
    made.stop = give_back<&PluckState<1>::line>;
    return made;
}();

constexpr NativeUgen list[] = {
    {"Pluck", [](const Signature& s) { return s.rate == Rate::audio && s.audio(in) ? &kernel : nullptr; }},
};

} // namespace

SCS_FAMILY(pluck)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/gather.hpp"
#include "engine/ugens/delay-line.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/interpolation.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

// Delay lines in real-time memory. Voices are computed one after the other. Each computes several frames at once if its
// delay allows it.

enum { in, longest, time, decay };

template <int N>
struct LineState {
    static constexpr size_t items64 = 1;
    float* line[N]; ///< mask + 1 samples; null without memory, or without a delay
    uint32_t mask[N];
    uint32_t next[N];           ///< frames written until the line is full, then its length + the next index to write
    float delay[N], seconds[N]; ///< in the last block: frames, and the input in seconds
    float feedback[N], decay[N];
};
constexpr uint32_t no_delay = ~0u; ///< in `mask`: there is no line, and the output is the input

// ---- interpolation; pick(k) is the sample k frames after the one at the delay's whole frames

struct Whole {
    static constexpr int newest = 0, oldest = 0;
    template <class Pick, class F>
    SCS_INLINE static F at(Pick&& pick, F) {
        return pick(0);
    }
};
struct Linear {
    static constexpr int newest = 0, oldest = 1;
    template <class Pick, class F>
    SCS_INLINE static F at(Pick&& pick, F part) {
        return linear(part, pick(0), pick(-1));
    }
};
struct Cubic {
    static constexpr int newest = 1, oldest = 2;
    template <class Pick, class F>
    SCS_INLINE static F at(Pick&& pick, F part) {
        return cubic(part, pick(1), pick(0), pick(-1), pick(-2));
    }
};

// ---- comb, allpass or plain delay: what is stored and what is put out

struct Plain {
    static constexpr bool feeds_back = false;
};
struct Comb {
    static constexpr bool feeds_back = true;
    template <class F>
    SCS_INLINE static F out(F value, F, F) {
        return value;
    }
};
struct Allpass {
    static constexpr bool feeds_back = true;
    template <class F>
    SCS_INLINE static F out(F value, F feedback, F stored) {
        return value - feedback * stored;
    }
};

template <class Structure, class Between>
struct Delay {
    static constexpr bool feeds_back = Structure::feeds_back;
    static constexpr bool cubic = Between::newest == 1;
    /// Shortest delay in frames: cubic interpolation and feedback need one each. In SuperCollider it is never below
    /// one.
    static constexpr float shortest = float(int(cubic) + int(feeds_back));

    using Line = DelayLine;

    SCS_INLINE static float frames_of(float seconds, float rate, const Line& line) {
        const float frames = seconds * rate, most = float(line.mask + 1);
        return not_shorter(frames > most ? most : frames);
    }
    SCS_INLINE static float not_shorter(float frames) { return frames < shortest ? shortest : frames; }

    /// Computes a frame. Unfilled: the line isn't full yet; what hasn't been written counts as silent.
    template <bool Unfilled>
    SCS_INLINE static float step(Line& line, float x, float delay, float feedback) {
        using F = F32<1>;
        const int64_t whole = whole_of(delay), place = line.next - whole;
        float& to = line.samples[line.next & line.mask];
        ++line.next;
        if (!feeds_back || (Unfilled && place + Between::newest < 0))
            to = x;
        if (Unfilled && place + Between::newest < 0)
            return std::is_same_v<Structure, Allpass> && !cubic ? -feedback * x : 0.f;
        const auto pick = [&](int k) {
            return F(Unfilled && place + k < 0 ? 0.f : line.samples[(place + k) & line.mask]);
        };
        const F value = Between::at(pick, F(delay - float(whole)));
        if constexpr (!feeds_back) {
            return value[0];
        } else {
            const F stored = F(x) + F(feedback) * value;
            to = stored[0];
            return Structure::out(value, F(feedback), stored)[0];
        }
    }

    /// Computes `lanes` frames at once.
    SCS_INLINE static void leap(Line& line, const float* from, float* out, int64_t whole, float part, float feedback) {
        using F = F32<lanes>;
        const F x = F::load(from);
        float* to = line.samples + (line.next & line.mask);
        const float* at = line.samples + ((line.next - whole - Between::oldest) & line.mask) + Between::oldest;
        if constexpr (!feeds_back)
            x.store(to);
        const F value = Between::at([&](int k) { return F::load(at + k); }, F(part));
        if constexpr (!feeds_back) {
            value.store(out);
        } else {
            const F stored = x + F(feedback) * value;
            stored.store(to);
            Structure::out(value, F(feedback), stored).store(out);
        }
        line.next += lanes;
    }

    /// The same if all frames to be read are from before the line's first.
    SCS_INLINE static void leap_silent(Line& line, const float* from, float* out, F32<lanes> feedback) {
        using F = F32<lanes>;
        const F x = F::load(from);
        x.store(line.samples + line.next);
        (std::is_same_v<Structure, Allpass> && !cubic ? -feedback * x : F(0.f)).store(out);
        line.next += lanes;
    }

    /// Whether the next `lanes` frames to be written, and those to be read, are contiguous in memory, and none that is
    /// written now is read.
    SCS_INLINE static bool may_leap(const Line& line, int64_t whole) {
        const int64_t length = line.mask + 1;
        const int64_t read = (line.next - whole - Between::oldest) & line.mask;
        const bool apart = feeds_back ? whole - Between::newest >= lanes && whole + Between::oldest <= length
                                      : whole + Between::oldest + lanes <= length;
        return apart && (line.next & line.mask) + lanes <= length &&
               read + Between::oldest + Between::newest + lanes <= length;
    }

    template <bool Unfilled>
    SCS_INLINE static void held(Line& line, const float* from, float* out, int n, float delay, float feedback) {
        const int64_t whole = whole_of(delay);
        const float part = delay - float(whole);
        int i = 0;
        for (; i + lanes <= n; i += lanes)
            if (Unfilled && line.next + lanes - 1 - whole + Between::newest < 0 && line.next + lanes <= line.mask)
                leap_silent(line, from + i, out + i, F32<lanes>(feedback));
            else if ((!Unfilled || line.next - whole >= Between::oldest) && may_leap(line, whole))
                leap(line, from + i, out + i, whole, part, feedback);
            else
                for (int k = i; k < i + lanes; ++k)
                    out[k] = step<Unfilled>(line, from[k], delay, feedback);
        for (; i < n; ++i)
            out[i] = step<Unfilled>(line, from[i], delay, feedback);
    }

    template <bool Unfilled>
    SCS_INLINE static void moving(Line& line, const float* from, float* out, int n, const float* delays,
                                  const float* feedbacks) {
        int i = 0;
        for (; i + lanes <= n; i += lanes)
            if (!leap_each<Unfilled>(line, from + i, out + i, delays + i, feedbacks + i))
                for (int k = i; k < i + lanes; ++k)
                    out[k] = step<Unfilled>(line, from[k], delays[k], feeds_back ? feedbacks[k] : 0.f);
        for (; i < n; ++i)
            out[i] = step<Unfilled>(line, from[i], delays[i], feeds_back ? feedbacks[i] : 0.f);
    }

    /// Computes `lanes` frames at once, each with its own delay. Returns false and does nothing if the delays don't
    /// allow it.
    template <bool Unfilled>
    SCS_INLINE static bool leap_each(Line& line, const float* from, float* out, const float* delays,
                                     const float* feedbacks) {
        using F = F32<lanes>;
        using I = I32<lanes>;
        constexpr int span = Between::oldest + Between::newest;
        const F delay = F::load(delays);
        const int64_t length = line.mask + 1, write = line.next & line.mask;
        if (any(is_nan(delay)) || write + lanes > length)
            return false;
        const I whole = convert<int32_t>(delay);
        const F feedback = feeds_back ? F::load(feedbacks) : F(0.f);
        if (Unfilled && line.next + lanes <= line.mask &&
            !any(whole < I(int32_t(line.next + lanes + Between::newest)))) {
            leap_silent(line, from, out, feedback);
            return true;
        }
        const int64_t longest_whole = length - Between::oldest - (feeds_back ? 0 : lanes);
        const int64_t most =
            Unfilled && line.next - Between::oldest < longest_whole ? line.next - Between::oldest : longest_whole;
        if (most < 0 || any(whole > I(int32_t(most))) || (feeds_back && any(whole < I(lanes + Between::newest))))
            return false;
        const I places = (I(int32_t(write) - Between::oldest) + count_up_integers() - whole) & I(int32_t(line.mask));
        if (any(places > I(int32_t(line.mask - span - 1)))) // gather() needs contiguous samples, and one more
            return false;
        const F x = F::load(from), part = delay - convert<float>(whole);
        float* to = line.samples + write;
        if constexpr (!feeds_back)
            x.store(to);
        Neighbours<lanes> pairs[span / 2 + 1];
        for (int k = 0; k <= span / 2; ++k)
            pairs[k] = gather(line.samples, places + I(2 * k));
        const F value = Between::at(
            [&](int k) {
                const auto& pair = pairs[(k + Between::oldest) / 2];
                return (k + Between::oldest) % 2 ? pair.next : pair.entry;
            },
            part);
        if constexpr (!feeds_back) {
            value.store(out);
        } else {
            const F stored = x + feedback * value;
            stored.store(to);
            Structure::out(value, feedback, stored).store(out);
        }
        line.next += lanes;
        return true;
    }
    SCS_INLINE static I32<lanes> count_up_integers() {
        int32_t all[lanes];
        for (int i = 0; i < lanes; ++i)
            all[i] = i;
        return I32<lanes>::load(all);
    }

    /// What a voice keeps between blocks besides the line.
    struct Kept {
        float &delay, &seconds, &feedback, &decay;
    };
    struct Inputs {
        const float* from;
        const float* seconds; ///< one for each frame if at audio rate, else a single one
        bool audio_seconds;
        float decay, rate;
    };

    /// Computes each frame's delay and feedback, `n` floats each. Returns false if both are constant.
    SCS_INLINE static bool plan(const Line& line, const Kept& kept, const Inputs& in, int n, bool unfilled,
                                float* delays, float* feedbacks) {
        if (in.audio_seconds) {
            for (int i = 0; i < n; ++i)
                delays[i] = frames_of(in.seconds[i], in.rate, line);
            int i = 0;
            for (; feeds_back && i + lanes <= n; i += lanes)
                feedback_of(F32<lanes>::load(in.seconds + i), F32<lanes>(in.decay)).store(feedbacks + i);
            for (; feeds_back && i < n; ++i)
                feedbacks[i] = feedback_of(F32<1>(in.seconds[i]), F32<1>(in.decay))[0];
            return true;
        }
        const float seconds = *in.seconds;
        const bool stays = seconds == kept.seconds;
        if (stays && in.decay == kept.decay)
            return false;
        const double each = 1.0 / n;
        const float slope = float(double(frames_of(seconds, in.rate, line) - kept.delay) * each);
        const float next = feeds_back ? feedback_of(F32<1>(seconds), F32<1>(in.decay))[0] : 0.f;
        const float feedback_slope = float(double(next - kept.feedback) * each);
        float delay = kept.delay, feedback = kept.feedback;
        if (stays && !Between::oldest) { // without interpolation, the feedback's ramp then starts at its old value
            int i = 0;
            if (unfilled && std::is_same_v<Structure, Comb>) { // and passes over silent frames with one addition
                const int64_t silent = whole_of(delay) - line.next;
                for (; i < n && i < silent; ++i)
                    delays[i] = delay, feedbacks[i] = 0.f;
                feedback += float(i) * feedback_slope;
            }
            for (; i < n; ++i, feedback += feedback_slope) {
                delays[i] = delay;
                feedbacks[i] = feedback;
            }
        } else {
            // Rounding errors of a long ramp may end below the shortest delay, where nothing has been written yet.
            for (int i = 0; i < n; ++i) {
                delays[i] = not_shorter(delay += slope);
                feedbacks[i] = feedback += feedback_slope;
            }
        }
        kept.delay = not_shorter(delay);
        kept.seconds = seconds;
        kept.feedback = feedback;
        kept.decay = in.decay;
        return true;
    }

    /// Computes n frames of a voice. `scratch`: 2 n floats. Not inlined, as it is large.
    [[gnu::noinline]] static uint32_t compute(Line line, const Kept& kept, const Inputs& in, float* out, int n,
                                              float* scratch) {
        const bool unfilled = line.unfilled();
        if (plan(line, kept, in, n, unfilled, scratch, scratch + n)) {
            if (unfilled)
                moving<true>(line, in.from, out, n, scratch, scratch + n);
            else
                moving<false>(line, in.from, out, n, scratch, scratch + n);
        } else {
            if (unfilled)
                held<true>(line, in.from, out, n, kept.delay, kept.feedback);
            else
                held<false>(line, in.from, out, n, kept.delay, kept.feedback);
        }
        // Prefetched, because hardware prefetchers miss lines this long, and many lines are more than the caches hold.
        expect(line, line.next, n);
        if (!line.unfilled())
            expect(line, line.next - whole_of(kept.delay), n);
        return line.kept_next();
    }
    /// Prefetches what the next block will access.
    SCS_INLINE static void expect(const Line& line, int64_t from, int n) {
        for (int i = 0; i < n; i += 64 / int(sizeof(float)))
            __builtin_prefetch(line.samples + ((from + i) & line.mask), 1);
    }

    template <int L>
    SCS_INLINE static void voice(const Op& op, const Block& block, int lane, const float* from, float* out, int n,
                                 const float* seconds, float* scratch) {
        auto& s = state<LineState<L>>(op, block);
        if (!s.line[lane]) {
            for (int i = 0; i < n; ++i)
                out[i] = s.mask[lane] == no_delay ? from[i] : 0.f;
            return;
        }
        const float rate = float(n > 1 ? block.audio->samples : block.control->samples);
        const float fade = feeds_back ? input(op, block, decay)[lane] : 0.f;
        s.next[lane] = compute({s.line[lane], s.mask[lane], s.next[lane]},
                               {s.delay[lane], s.seconds[lane], s.feedback[lane], s.decay[lane]},
                               {from, seconds, is_audio(op, time), fade, rate}, out, n, scratch);
    }

    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const float *from = input(op, block, in), *seconds = input(op, block, time);
            float* out = output(op, block);
            if (L == 1 || !at_audio_rate(op)) {
                const int n = own_frames(op, block);
                each_lane<L>(block, [&](int lane) {
                    voice<L>(op, block, lane, from + lane, out + lane, n, seconds + lane, row(block, 0, 0));
                });
                return;
            }
            enum { ins, times, outs, scratch };
            unweave(block, from, ins);
            if (is_audio(op, time))
                unweave(block, seconds, times);
            each_lane<L>(block, [&](int lane) {
                const float* own = is_audio(op, time) ? row(block, times, lane) : seconds + lane;
                voice<L>(op, block, lane, row(block, ins, lane), row(block, outs, lane), block.frames, own,
                         row(block, scratch, 0));
            });
            weave(block, outs, out);
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LineState<1>>(op, block);
        const bool audio = at_audio_rate(op);
        const double rate = audio ? block.audio->samples : block.control->samples;
        s.seconds[0] = *input(op, block, time);
        if (!feeds_back && op.operands[time].rate == Rate::scalar && s.seconds[0] == 0.f) {
            s.mask[0] = no_delay;
            *output(op, block) = *input(op, block, in);
            return;
        }
        const int64_t length = line_length(*input(op, block, longest), rate, audio ? block.frames : 1);
        s.line[0] = claim<float>(block, size_t(length));
        if (!s.line[0])
            complain_of_memory(op, block);
        s.mask[0] = uint32_t(length - 1);
        s.delay[0] = frames_of(s.seconds[0], float(rate), {nullptr, length - 1, 0});
        if constexpr (feeds_back) {
            s.decay[0] = *input(op, block, decay);
            s.feedback[0] = feedback_of(F32<1>(s.seconds[0]), F32<1>(s.decay[0]))[0];
        }
        *output(op, block) = 0.f;
    }

    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, LineState>(start);
        made.stop = give_back<&LineState<1>::line>;
        return made;
    }();
    static const Kernel* choose(const Signature& s) {
        if (s.rate == Rate::audio)
            return s.audio(in) ? &kernel : nullptr;
        return s.rate == Rate::control ? &kernel : nullptr;
    }
};

constexpr NativeUgen list[] = {
    {"DelayN", Delay<Plain, Whole>::choose},     {"DelayL", Delay<Plain, Linear>::choose},
    {"DelayC", Delay<Plain, Cubic>::choose},     {"CombN", Delay<Comb, Whole>::choose},
    {"CombL", Delay<Comb, Linear>::choose},      {"CombC", Delay<Comb, Cubic>::choose},
    {"AllpassN", Delay<Allpass, Whole>::choose}, {"AllpassL", Delay<Allpass, Linear>::choose},
    {"AllpassC", Delay<Allpass, Cubic>::choose},
};

} // namespace

SCS_FAMILY(delays)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/gather.hpp"
#include "engine/ugens/complaint.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sample-buffers.hpp"

namespace scs::SCS_SIMD {
namespace {

template <int L>
SCS_INLINE void put_silence(const Op& op, const Block& block, int lane, int frames) {
    for (int c = 0; c < op.outputs; ++c)
        for (int i = 0; i < frames; ++i)
            output(op, block, size_t(c))[i * L + lane] = 0.f;
}

/// Says when a synth starts that its buffer isn't there, or has other channels than the unit.
void look_at_buffer(const Op& op, const Block& block, float number) {
    const SampleBuffer buffer = buffer_of(block, 0, number);
    const auto say = [&](const Complaint& what) {
        block.space->done_action(block.space->host, *block.synths[0], what.action());
    };
    if (!buffer.data)
        say({Complaint::no_buffer, op.unit});
    else if (buffer.channels != op.outputs)
        say({Complaint::channels, op.unit, op.outputs, uint16_t(buffer.channels < 65535 ? buffer.channels : 65535)});
}

/// What comes in for a voice in `lanes` frames.
template <int L>
SCS_INLINE F32<lanes> frames_of(const LaneIn<L>& in, int frame) {
    if constexpr (L == 1) {
        return F32<lanes>::load(in.wire + frame);
    } else {
        float all[lanes];
        for (int i = 0; i < lanes; ++i)
            all[i] = in.at(frame + i);
        return F32<lanes>::load(all);
    }
}

/// Calls together(i) for the `lanes` frames from i on, for all of n. If it returns false, and for fewer frames at the
/// end, alone() is called for each frame.
template <class Together, class Alone>
SCS_INLINE void each_frames(int n, Together&& together, Alone&& alone) {
    for (int i = 0; i < n; i += lanes) {
        const int end = i + lanes;
        if (end <= n && together(i))
            continue;
        for (int frame = i; frame < (end < n ? end : n); ++frame)
            alone(frame);
    }
}

/// Reads frames of a buffer for one voice. `points`: samples that are interpolated between, 1, 2 or 4.
template <int L>
class Player {
public:
    SCS_INLINE Player(const Op& op, const Block& block, int lane, const SampleBuffer& buffer, bool loop, int points)
        : op_(op),
          block_(block),
          lane_(lane),
          buffer_(buffer),
          loop_(loop),
          points_(points),
          end_(loop ? buffer.frames : buffer.frames - 1),
          inner_end_(buffer.frames - 2),
          gathers_((buffer.channels == 1 || buffer.channels == 2) && buffer.frames < 1 << 29),
          first_(output(op, block) + lane) {}

    /// Writes all channels of a frame; channels that the buffer lacks are silent. Returns the place within the buffer.
    SCS_INLINE double put(int frame, double place, bool& stopped) const {
        if (!(place >= 1. && place < inner_end_))
            return put_edge(frame, place, stopped);
        const int32_t at = int32_t(place);
        const float part = float(place - double(at));
        const int64_t step = buffer_.channels;
        const float* from = buffer_.data + at * step;
        first_[frame * L] = inner(from, step, part);
        for (int c = 1; c < op_.outputs; ++c)
            to(c, frame) = c < step ? inner(from + c, step, part) : 0.f;
        return place;
    }

    /// put() for `lanes` frames. false: that is impossible, as one is near an end, or the buffer has many channels.
    template <class T>
    SCS_INLINE bool put_frames(int frame, Vec<T, lanes> place) const {
        // Where the end isn't a float its rounding is the first float beyond it, or one before it.
        if (!gathers_ || !all((place >= Vec<T, lanes>(1)) & (place < Vec<T, lanes>(T(inner_end_)))))
            return false;
        const I at = convert<int32_t>(place);
        const F part = convert<float>(place - convert<T>(at));
        if (buffer_.channels == 1 && points_ == 4) {
            const auto before = gather(buffer_.data - 1, at), after = gather(buffer_.data + 1, at);
            put_channel(0, frame, cubic(part, before.entry, before.next, after.entry, after.next));
        } else if (buffer_.channels == 1) {
            const auto now = gather(buffer_.data, at);
            put_channel(0, frame, between(part, now.entry, now.next));
        } else {
            const I pair = at + at; // of both channels
            const auto now = gather(buffer_.data, pair), after = gather(buffer_.data + 2, pair);
            Neighbours<lanes> before{}, second{};
            if (points_ == 4) {
                before = gather(buffer_.data - 2, pair);
                second = gather(buffer_.data + 4, pair);
            }
            const auto channel = [&](int c, F Neighbours<lanes>::*of) SCS_INLINE_LAMBDA {
                put_channel(c, frame,
                            points_ == 4 ? cubic(part, before.*of, now.*of, after.*of, second.*of)
                                         : between(part, now.*of, after.*of));
            };
            channel(0, &Neighbours<lanes>::entry);
            if (op_.outputs > 1)
                channel(1, &Neighbours<lanes>::next);
        }
        for (int c = buffer_.channels; c < op_.outputs; ++c)
            put_channel(c, frame, F(0.f));
        return true;
    }

private:
    using F = F32<lanes>;
    using I = I32<lanes>;

    SCS_INLINE float& to(int channel, int frame) const {
        return output(op_, block_, size_t(channel))[frame * L + lane_];
    }
    SCS_INLINE void put_channel(int channel, int frame, F values) const {
        if constexpr (L == 1) {
            values.store(&to(channel, frame));
        } else {
            float all[lanes];
            values.store(all);
            for (int i = 0; i < lanes; ++i)
                to(channel, frame + i) = all[i];
        }
    }
    template <class V>
    SCS_INLINE V between(V part, V at, V after) const {
        return points_ == 1 ? at : linear(part, at, after);
    }
    SCS_INLINE float inner(const float* from, int64_t step, float part) const {
        if (points_ == 4)
            return cubic(part, from[-step], from[0], from[step], from[2 * step]);
        return between(part, from[0], from[step]);
    }
    /// put() for places near the buffer's ends or outside.
    [[gnu::noinline]] double put_edge(int frame, double place, bool& stopped) const {
        place = place_in(place, end_, loop_, stopped);
        const Around around(place, buffer_.frames, loop_);
        for (int c = 0; c < op_.outputs; ++c) {
            const auto value = [&](int64_t at) { return c < buffer_.channels ? sample(buffer_, at, c) : 0.f; };
            const float at = value(around.at);
            to(c, frame) = points_ == 4
                               ? cubic(around.part, value(around.before), at, value(around.after), value(around.second))
                           : points_ == 1 ? at
                                          : linear(around.part, at, value(around.after));
        }
        return place;
    }

    const Op& op_;
    const Block& block_;
    int lane_;
    SampleBuffer buffer_;
    bool loop_;
    int points_;
    double end_, inner_end_;
    bool gathers_;
    float* first_;
};

// ---- PlayBuf

enum { play_buffer, rate, trigger, start_place, play_loop, action };

template <int N>
struct PlayState {
    static constexpr size_t items64 = 1;
    double place[N];    ///< frames
    float trigger[N];   ///< trigger in the previous frame
    int32_t stopped[N]; ///< 1 after reaching an end, until the next trigger
};

template <int L>
struct PlayBuf {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { voice(op, block, lane); });
    }
    SCS_INLINE static void voice(const Op& op, Block& block, int lane) {
        auto& s = state<PlayState<L>>(op, block);
        const auto in = [&](int index) { return input(op, block, size_t(index))[lane]; };
        const int n = own_frames(op, block);
        const SampleBuffer buffer = buffer_of(block, lane, in(play_buffer));
        if (!buffer.data)
            return put_silence<L>(op, block, lane, n);
        const Player<L> player(op, block, lane, buffer, int_of(in(play_loop)) != 0, 4);
        // If the trigger is at audio rate and the rate isn't, the start is read at the trigger's frame; else at the
        // block's first.
        const bool audio_rate = is_audio(op, rate), audio_trigger = is_audio(op, trigger);
        const LaneIn<L> rates(op, block, rate, lane), triggers(op, block, trigger, lane);
        const LaneIn<L> starts(op, block, start_place, lane);
        struct {
            double place;
            float before;
            bool stopped;
        } now{s.place[lane], s.trigger[lane], s.stopped[lane] != 0};
        if (audio_rate && !audio_trigger && now.place == -1.)
            now.place = buffer.frames;
        const auto look_for_trigger = [&](int i) SCS_INLINE_LAMBDA {
            const float trigger = triggers.at(i);
            if (trigger > 0.f && now.before <= 0.f) {
                now.stopped = false;
                now.place = double(starts.at(audio_rate ? 0 : i));
            }
            now.before = trigger;
        };
        const auto together = [&](int i) SCS_INLINE_LAMBDA {
            const auto before = now;
            double places[lanes];
            for (int k = 0; k < lanes; ++k) {
                look_for_trigger(i + k);
                places[k] = now.place;
                now.place += double(rates.at(i + k));
            }
            if (player.put_frames(i, F64<lanes>::load(places)))
                return true;
            now = before;
            return false;
        };
        each_frames(n, together, [&](int i) {
            look_for_trigger(i);
            const float step = rates.at(i);
            // From an end inwards it goes on.
            const bool outwards = now.place < 0. ? step <= 0.f : step >= 0.f;
            bool at_end = false;
            now.place = player.put(i, now.place, at_end) + double(step);
            now.stopped |= at_end && outwards;
        });
        s.place[lane] = now.place;
        s.trigger[lane] = now.before;
        s.stopped[lane] = now.stopped;
        if (now.stopped)
            done(op, block, lane, in(action));
    }
};

void start_play_buf(const Op& op, Block& block) SCS_NONBLOCKING {
    state<PlayState<1>>(op, block).place[0] = double(*input(op, block, start_place));
    put_silence<1>(op, block, 0, 1);
    look_at_buffer(op, block, *input(op, block, play_buffer));
}

constexpr Kernel play_buf = [] {
    Kernel made = buffer_kernel<PlayBuf, PlayState>(start_play_buf);
    made.acts_when_done = true;
    made.reads_after_writing = true;
    return made;
}();

// ---- BufRd

enum { read_buffer, phase, read_loop, interpolation, phase_rest };

template <int N>
struct ReadState {
    static constexpr size_t items64 = 0;
    int32_t points[N]; ///< samples that are interpolated between: 1, 2 or 4
};

template <int L>
struct BufRd {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) {
            voice(op, block, lane, own_frames(op, block), state<ReadState<L>>(op, block).points[lane]);
        });
    }
    SCS_INLINE static void voice(const Op& op, Block& block, int lane, int n, int points) {
        const SampleBuffer buffer = buffer_of(block, lane, input(op, block, read_buffer)[lane]);
        if (!buffer.data)
            return put_silence<L>(op, block, lane, n);
        const bool loop = int_of(input(op, block, read_loop)[lane]) != 0;
        const LaneIn<L> phases(op, block, phase, lane);
        bool stopped = false;
        if (op.inputs > phase_rest)
            return play_fine(op, block, lane, Player<L>(op, block, lane, buffer, loop, points), n);
        const auto play = [&](const Player<L>& player) {
            each_frames(
                n, [&](int i) SCS_INLINE_LAMBDA { return player.put_frames(i, frames_of(phases, i)); },
                [&](int i) SCS_INLINE_LAMBDA { (void)player.put(i, double(phases.at(i)), stopped); });
        };
        if (points == 4)
            play(Player<L>(op, block, lane, buffer, loop, 4));
        else
            play(Player<L>(op, block, lane, buffer, loop, points));
    }
    /// See synthdef/fine-phases.hpp. Before frame `coarse` samples of the phase alone count, as in SuperCollider,
    /// unless arithmetic has made them more inexact than `negligible` frames.
    static constexpr float coarse = 0x1p15f, negligible = 0x1p-8f;
    [[gnu::noinline]] static void play_fine(const Op& op, const Block& block, int lane, const Player<L> player, int n) {
        const LaneIn<L> phases(op, block, phase, lane), rests(op, block, phase_rest, lane);
        bool stopped = false;
        const auto together = [&](int i) SCS_INLINE_LAMBDA {
            return player.put_frames(i, place_of(frames_of(phases, i), frames_of(rests, i)));
        };
        each_frames(n, together, [&](int i) {
            (void)player.put(i, place_of(F32<1>(phases.at(i)), F32<1>(rests.at(i)))[0], stopped);
        });
    }
    template <int N>
    SCS_INLINE static F64<N> place_of(F32<N> phase, F32<N> rest) {
        const F32<N> least(negligible);
        const auto fine = (phase >= F32<N>(coarse)) | (rest > least) | (rest < -least);
        const F64<N> place = convert<double>(phase);
        return select(widen_mask(fine), place + convert<double>(rest), place);
    }
};

void start_buf_rd(const Op& op, Block& block) SCS_NONBLOCKING {
    const int32_t points = int_of(*input(op, block, interpolation));
    state<ReadState<1>>(op, block).points[0] = points == 1 || points == 2 ? points : 4;
    BufRd<1>::voice(op, block, 0, 1, 1);
    look_at_buffer(op, block, *input(op, block, read_buffer));
}

constexpr Kernel buf_rd = buffer_kernel<BufRd, ReadState>(start_buf_rd);

// ---- facts about buffers

template <class Fact>
struct BufferFact {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) {
                output(op, block)[lane] = float(Fact::of(buffer_of(block, lane, input(op, block, 0)[lane]), block));
            });
        }
    };
    static constexpr Kernel kernel = buffer_kernel<Run, Stateless>(Run<1>::run);
    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::control || s.rate == Rate::scalar ? &kernel : nullptr;
    }
};

struct BufFrames {
    SCS_INLINE static double of(const SampleBuffer& b, const Block&) { return b.frames; }
};
struct BufChannels {
    SCS_INLINE static double of(const SampleBuffer& b, const Block&) { return b.channels; }
};
struct BufSamples {
    SCS_INLINE static double of(const SampleBuffer& b, const Block&) { return double(b.frames) * b.channels; }
};
struct BufSampleRate {
    SCS_INLINE static double of(const SampleBuffer& b, const Block&) { return b.rate; }
};
struct BufRateScale {
    SCS_INLINE static double of(const SampleBuffer& b, const Block& block) { return b.rate * block.audio->duration; }
};
struct BufDur {
    SCS_INLINE static double of(const SampleBuffer& b, const Block&) {
        return b.rate > 0. ? b.frames * (1. / b.rate) : 0.;
    }
};

constexpr NativeUgen list[] = {
    {"PlayBuf",
     [](const Signature& s) { return s.rate == Rate::audio || s.rate == Rate::control ? &play_buf : nullptr; }},
    {"BufRd",
     [](const Signature& s) {
         return (s.rate == Rate::audio && s.audio(phase)) || s.rate == Rate::control ? &buf_rd : nullptr;
     }},
    {"BufFrames", BufferFact<BufFrames>::choose},
    {"BufChannels", BufferFact<BufChannels>::choose},
    {"BufSamples", BufferFact<BufSamples>::choose},
    {"BufSampleRate", BufferFact<BufSampleRate>::choose},
    {"BufRateScale", BufferFact<BufRateScale>::choose},
    {"BufDur", BufferFact<BufDur>::choose},
};

} // namespace

SCS_FAMILY(buffer_players)

} // namespace scs::SCS_SIMD

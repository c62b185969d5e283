// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/grain.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"

// GrainSin, GrainFM, GrainIn, GrainBuf, TGrains: at each trigger a short sound begins, with an envelope and a place
// among the outputs. A voice's grains are computed one after the other, some frames at a time.

namespace scs::SCS_SIMD {
namespace {

constexpr int at_once = 64;       ///< frames
constexpr int most_grains = 1024; ///< of a voice, for which they take some 0.4 ms a block

/// The numbers of the inputs that these units have, beside the trigger.
struct Inputs {
    size_t count, duration, pan;
    size_t window = 0, most = 0; ///< 0: it has none, but half a sine, and as many grains as Source::most
};
constexpr size_t trigger_input = 0;

/// Inputs at a frame; where the trigger isn't audio at frame 0.
template <int L>
class At {
public:
    SCS_INLINE At(const Op& op, const Block& block, int lane, int frame)
        : op_(op), block_(block), lane_(lane), frame_(frame) {}
    SCS_INLINE float in(size_t index) const { return LaneIn<L>(op_, block_, index, lane_).at(frame_); }
    const Block& block() const { return block_; }
    int lane() const { return lane_; }

private:
    const Op& op_;
    const Block& block_;
    int lane_, frame_;
};

// ---- what sounds: begin() at its start, run() gives some frames

/// Inputs: trigger, duration, frequency, pan, window, most grains.
struct Sine {
    static constexpr Inputs inputs{6, 1, 3, 4, 5};
    uint32_t phase, increment;

    template <int L>
    bool begin(const At<L>& at, double) {
        increment = uint32_t(int_of(phase_cycle * at.block().audio->duration * double(at.in(2))));
        phase = 0;
        return true;
    }
    template <int L>
    bool run(const Op&, const Block&, int, int, int frames, float* to) {
        uint32_t numbers[lanes];
        for (int i = 0; i < lanes; ++i)
            numbers[i] = uint32_t(i) * increment;
        const auto ahead = U32<lanes>::load(numbers);
        for (int i = 0; i < frames; i += lanes) // there is room for whole vectors
            wavetable_sine(U32<lanes>(phase + uint32_t(i) * increment) + ahead).store(to + i);
        phase += uint32_t(frames) * increment;
        return true;
    }
};

/// Inputs: trigger, duration, carrier, modulator, index, pan, window, most grains.
struct Modulated {
    static constexpr Inputs inputs{8, 1, 5, 6, 7};
    uint32_t carrier, modulator, increment;
    float deviation, frequency;

    template <int L>
    bool begin(const At<L>& at, double) {
        frequency = at.in(2);
        const float modulating = at.in(3);
        deviation = at.in(4) * modulating;
        increment = uint32_t(int_of(phase_cycle * at.block().audio->duration * double(modulating)));
        carrier = modulator = 0;
        return true;
    }
    template <int L>
    bool run(const Op&, const Block& block, int, int, int frames, float* to) {
        const double cycle = phase_cycle * block.audio->duration;
        for (int i = 0; i < frames; ++i) {
            const float bend = wavetable_sine(U32<1>(modulator))[0] * deviation;
            to[i] = wavetable_sine(U32<1>(carrier))[0];
            carrier += uint32_t(int_of(cycle * double(frequency + bend)));
            modulator += increment;
        }
        return true;
    }
};

/// Inputs: trigger, duration, signal, pan, window, most grains.
struct Signal {
    static constexpr Inputs inputs{6, 1, 3, 4, 5};
    static constexpr size_t signal = 2;
    float unused;

    template <int L>
    bool begin(const At<L>&, double) {
        return true;
    }
    template <int L>
    bool run(const Op& op, const Block& block, int lane, int from, int frames, float* to) {
        const LaneIn<L> in(op, block, signal, lane);
        for (int i = 0; i < frames; ++i)
            to[i] = in.at(from + i);
        return true;
    }
};

/// Inputs: trigger, duration, buffer, rate, position, interpolation, pan, window, most grains.
struct Samples {
    static constexpr Inputs inputs{9, 1, 6, 7, 8};
    double place, rate;
    float number;
    int32_t points; ///< of the interpolation

    template <int L>
    bool begin(const At<L>& at, double) {
        number = at.in(2);
        SampleBuffer buffer;
        if (!find(at.block(), at.lane(), buffer))
            return false;
        const auto scale = float(double(float(buffer.rate)) * at.block().audio->duration);
        rate = double(at.in(3) * scale);
        place = double(at.in(4) * float(buffer.frames));
        points = int_of(at.in(5));
        return place - place == 0.;
    }
    /// Without its buffer it is silent, until it is over.
    template <int L>
    bool run(const Op&, const Block& block, int lane, int, int frames, float* to) {
        SampleBuffer buffer;
        if (!find(block, lane, buffer))
            return false;
        read_around(buffer, 0, place, rate, points, frames, to);
        return true;
    }

protected:
    bool find(const Block& block, int lane, SampleBuffer& buffer) const {
        buffer = buffer_of(block, lane, number);
        return buffer.data && buffer.channels == 1 && buffer.frames > 0;
    }
};

/// Inputs: trigger, buffer, rate, position of the middle, duration, pan, level, interpolation. A trigger counts once it
/// has begun a grain.
struct AroundMiddle : Samples {
    static constexpr Inputs inputs{8, 4, 5};
    static constexpr int32_t most = 64;

    template <int L>
    bool begin(const At<L>& at, double frames) {
        number = at.in(1);
        SampleBuffer buffer;
        if (!find(at.block(), at.lane(), buffer))
            return false;
        const auto buffers_rate = float(buffer.rate);
        const auto scale = float(double(buffers_rate) * at.block().audio->duration);
        rate = double(at.in(2) * scale);
        place = double(at.in(3) * buffers_rate) - 0.5 * frames * rate;
        points = int_of(at.in(7));
        return place - place == 0.;
    }
    template <int L>
    static double level(const At<L>& at) {
        return double(at.in(6));
    }
};

// ---- grains

template <class Source>
struct Grain {
    GrainEnvelope envelope;
    Source source;
    float level[2];          ///< on the output of its channel and on the next one
    int32_t channel, frames; ///< frames: how many are left

    void place(float pan, double loudness, size_t outputs) {
        constexpr float quarter = 1.57079632679489661923f;
        channel = 0;
        level[0] = float(loudness);
        level[1] = 0.f;
        if (outputs < 2)
            return;
        float angle;
        if (outputs > 2) {
            const float turned = pan * 0.5f, turn = turned - floor(F32<1>(turned))[0];
            const float at = float(outputs) * turn + 0.5f, whole = floor(F32<1>(at))[0];
            angle = (at - whole) * quarter;
            channel = int_of(whole);
            channel = channel >= int32_t(outputs) ? channel - int32_t(outputs) : channel;
            channel = channel < 0 || channel >= int32_t(outputs) ? 0 : channel;
        } else {
            const float at = pan * 0.5f + 0.5f;
            angle = (at < 0.f ? 0.f : at > 1.f ? 1.f : at) * quarter;
        }
        level[0] = float(loudness * cos(F64<1>(double(angle)))[0]);
        level[1] = float(loudness * sin(F64<1>(double(angle)))[0]);
    }
};

template <class Source>
struct Grains {
    using OneGrain = Grain<Source>;
    static constexpr bool is_around_middle = __is_same(Source, AroundMiddle); ///< TGrains

    template <int N>
    struct State {
        static constexpr size_t items64 = 1;
        OneGrain* grains[N]; ///< null: there was no memory for them
        float before[N];     ///< the trigger
        int32_t count[N], most[N];
    };

    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<State<L>>(op, block);
            const int n = block.frames;
            each_lane<L>(block, [&](int lane) {
                for (size_t k = 0; k < op.outputs; ++k)
                    for (int i = 0; i < n; ++i)
                        output(op, block, k)[i * L + lane] = 0.f;
                OneGrain* const grains = s.grains[lane];
                if (!grains)
                    return;
                int32_t count = s.count[lane];
                for (int32_t g = 0; g < count;) {
                    if (!sound(grains[g], op, block, lane, 0, n))
                        break;
                    if (grains[g].frames <= 0)
                        grains[g] = grains[--count];
                    else
                        ++g;
                }
                const bool audio = is_audio(op, trigger_input);
                const LaneIn<L> trigger(op, block, trigger_input, lane);
                for (int i = 0; i < (audio ? n : 1); ++i) {
                    const float now = trigger.at(i);
                    if (now > 0.f && s.before[lane] <= 0.f) {
                        const bool room = count + 1 < s.most[lane];
                        if (is_around_middle && !room)
                            break;
                        if (room && begin(grains[count], op, block, lane, i, n))
                            count += grains[count].frames > 0;
                        else if (is_around_middle)
                            continue;
                    }
                    s.before[lane] = now;
                }
                s.count[lane] = count;
            });
        }

    private:
        /// Whether there is one more, which may be over already.
        [[gnu::noinline]] static bool begin(OneGrain& grain, const Op& op, const Block& block, int lane, int from,
                                            int to) {
            const At<L> at(op, block, lane, is_audio(op, trigger_input) ? from : 0);
            double length = double(at.in(Source::inputs.duration)) * block.audio->samples;
            if constexpr (is_around_middle)
                length = floor(F64<1>(length))[0];
            const double frames = shortest_grain > length ? shortest_grain : length;
            grain.frames = int_of(frames);
            const float window = Source::inputs.window ? at.in(Source::inputs.window) : -1.f;
            if (!grain.envelope.begin(block, window, frames) || !grain.source.begin(at, frames))
                return false;
            double loudness = 1.;
            if constexpr (is_around_middle)
                loudness = grain.source.level(at);
            grain.place(at.in(Source::inputs.pan), loudness, op.outputs);
            (void)sound(grain, op, block, lane, from, to);
            return true;
        }

        /// Adds a grain's frames to the outputs. false: its envelope's buffer has gone.
        [[gnu::noinline]] static bool sound(OneGrain& grain, const Op& op, const Block& block, int lane, int from,
                                            int to) {
            const int end = grain.frames < to - from ? from + grain.frames : to;
            if (end <= from) {
                grain.frames = 0;
                return true;
            }
            float* const first = output(op, block, size_t(grain.channel)) + lane;
            const size_t next = size_t(grain.channel) + 1;
            float* const second = op.outputs > 1 ? output(op, block, next < op.outputs ? next : 0) + lane : nullptr;
            alignas(64) float heights[at_once], samples[at_once];
            for (int at = from; at < end; at += at_once) {
                const int frames = end - at < at_once ? end - at : at_once;
                if (!grain.source.template run<L>(op, block, lane, at, frames, samples)) {
                    grain.frames -= to - from;
                    return true;
                }
                if (!grain.envelope.run(block, frames, heights))
                    return false;
                add(samples, heights, grain.level[0], first + at * L, frames);
                if (second)
                    add(samples, heights, grain.level[1], second + at * L, frames);
            }
            grain.frames -= end - from;
            return true;
        }

        SCS_INLINE static void add(const float* samples, const float* heights, float level, float* out, int frames) {
            for (int i = 0; i < frames; ++i)
                out[i * L] += heights[i] * samples[i] * level;
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<State<1>>(op, block);
        for (size_t k = 0; k < op.outputs; ++k)
            *output(op, block, k) = 0.f;
        int32_t most;
        if constexpr (is_around_middle) {
            most = Source::most;
        } else {
            const int32_t wanted = int_of(*input(op, block, Source::inputs.most));
            most = wanted < 1 ? 1 : wanted < most_grains ? wanted : most_grains;
        }
        s.most[0] = most;
        s.grains[0] = claim<OneGrain>(block, size_t(most));
        if (!s.grains[0])
            return complain_of_memory(op, block);
        if constexpr (!is_around_middle)
            run_first_frame(Run<1>::run, op, block);
    }

    static constexpr Kernel kernel = [] {
        Kernel made = buffer_kernel<Run, State>(start);
        made.stop = give_back<&State<1>::grains>;
        made.reads_after_writing = true;
        made.start_cost = 1000;
        made.takes_long = true;
        made.batch = nullptr; // a lane after the other, each of which may take milliseconds: the deadline is asked
                              // after each voice
        return made;
    }();

    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio || s.inputs.size() != Source::inputs.count || s.outputs < 1)
            return nullptr;
        for (const Signature::Input& input : s.inputs)
            if (input.rate == Rate::demand)
                return nullptr;
        const Signature::Input& most = s.inputs[Source::inputs.most];
        return !is_around_middle && most.constant && most.value > float(most_grains) ? nullptr : &kernel;
    }
};

const Kernel* choose_of_signal(const Signature& s) {
    return s.inputs.size() > Signal::signal && s.audio(Signal::signal) ? Grains<Signal>::choose(s) : nullptr;
}

constexpr NativeUgen list[] = {
    {"GrainBuf", Grains<Samples>::choose}, {"GrainFM", Grains<Modulated>::choose},    {"GrainIn", choose_of_signal},
    {"GrainSin", Grains<Sine>::choose},    {"TGrains", Grains<AroundMiddle>::choose},
};

} // namespace

SCS_FAMILY(grains)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sample-buffers.hpp"
#include "engine/ugens/sine-tables.hpp"

// GrainSin, GrainFM, GrainIn, GrainBuf: at each trigger a short sound begins, with an envelope and a place among the
// outputs. A voice's grains are computed one after the other, some frames at a time.

namespace scs::SCS_SIMD {
namespace {

constexpr int at_once = 64;       ///< frames
constexpr double shortest = 4;    ///< frames of a grain
constexpr int most_grains = 1024; ///< of a voice, for which they take some 0.4 ms a block

/// The numbers of the inputs that all of these units have, beside the trigger and the duration.
struct Inputs {
    size_t pan, window, most;
};
constexpr size_t trigger_input = 0, duration_input = 1;

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

// ---- the envelope: half a sine, squared, or a buffer

struct Envelope {
    double b1, y1, y2, place, step;
    float height, number; ///< number: of the buffer; below 0: half a sine

    /// false: there is no such buffer. `frames`: how long it is.
    bool begin(const Block& block, float window, double frames) {
        number = window;
        if (window < 0.f) {
            constexpr double pi = 3.14159265358979323846;
            const double w = pi / frames;
            b1 = 2. * cos(F64<1>(w))[0];
            y1 = sin(F64<1>(w))[0];
            y2 = 0.;
            height = float(y1 * y1);
            return true;
        }
        SampleBuffer buffer;
        if (!find(block, buffer))
            return false;
        height = buffer.data[0];
        place = 0.;
        step = double(samples(buffer)) / frames;
        return true;
    }

    /// The heights of some frames. false: the buffer has gone.
    bool run(const Block& block, int frames, float* heights) {
        if (number < 0.f) {
            double one = y1, two = y2;
            for (int i = 0; i < frames; ++i) {
                heights[i] = float(one * one);
                const double next = b1 * one - two;
                two = one;
                one = next;
            }
            y1 = one;
            y2 = two;
            return true;
        }
        SampleBuffer buffer;
        if (!find(block, buffer))
            return false;
        const int64_t count = samples(buffer);
        for (int i = 0; i < frames; ++i) {
            heights[i] = height;
            place += step;
            const int64_t at = int_of(place);
            const int64_t after = place > double(buffer.frames - 1) ? at + 1 - count : at + 1;
            const auto sample = [&](int64_t k) { return uint64_t(k) < uint64_t(count) ? buffer.data[k] : 0.f; };
            height = linear(float(place - double(at)), sample(at), sample(after));
        }
        return true;
    }

private:
    static int64_t samples(const SampleBuffer& buffer) { return int64_t(buffer.frames) * buffer.channels; }
    bool find(const Block& block, SampleBuffer& buffer) const {
        if (!(number < float(block.space->buffer_count)))
            return false;
        buffer = block.space->buffer(block.space->buffers, int_of(number));
        return buffer.data && samples(buffer) > 0;
    }
};

// ---- what sounds: begin() at its start, run() gives some frames

/// Inputs: trigger, duration, frequency, pan, window, most grains.
struct Sine {
    static constexpr Inputs inputs{3, 4, 5};
    uint32_t phase, increment;

    template <int L>
    bool begin(const At<L>& at) {
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
    static constexpr Inputs inputs{5, 6, 7};
    uint32_t carrier, modulator, increment;
    float deviation, frequency;

    template <int L>
    bool begin(const At<L>& at) {
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
    static constexpr Inputs inputs{3, 4, 5};
    static constexpr size_t signal = 2;
    float unused;

    template <int L>
    bool begin(const At<L>&) {
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
    static constexpr Inputs inputs{6, 7, 8};
    double place, rate;
    float number;
    int32_t points; ///< of the interpolation

    template <int L>
    bool begin(const At<L>& at) {
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
        const double end = buffer.frames;
        for (int i = 0; i < frames; ++i) {
            place = within(place, end);
            const int64_t at = int_of(place);
            const auto part = float(place - double(at));
            const auto sample = [&](int64_t k) {
                const int64_t inside = k < 0 ? k + buffer.frames : k >= buffer.frames ? k - buffer.frames : k;
                return uint64_t(inside) < uint64_t(buffer.frames) ? buffer.data[inside] : 0.f;
            };
            if (at < 0)
                to[i] = 0.f; // its place is no number
            else if (points >= 4)
                to[i] = cubic(part, sample(at - 1), sample(at), sample(at + 1), sample(at + 2));
            else if (points >= 2)
                to[i] = linear(part, sample(at), sample(at + 1));
            else
                to[i] = sample(at);
            place += rate;
        }
        return true;
    }

private:
    bool find(const Block& block, int lane, SampleBuffer& buffer) const {
        buffer = buffer_of(block, lane, number);
        return buffer.data && buffer.channels == 1 && buffer.frames > 0;
    }
    SCS_INLINE static double within(double x, double end) {
        if (x >= end) {
            x -= end;
            if (x < end)
                return x;
        } else if (x < 0.) {
            x += end;
            if (x >= 0.)
                return x;
        } else {
            return x;
        }
        return x - end * floor(F64<1>(x / end))[0];
    }
};

// ---- grains

template <class Source>
struct Grain {
    Envelope envelope;
    Source source;
    float level[2];          ///< on the output of its channel and on the next one
    int32_t channel, frames; ///< frames: how many are left

    void place(float pan, size_t outputs) {
        constexpr float quarter = 1.57079632679489661923f;
        channel = 0;
        level[0] = 1.f;
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
        level[0] = float(cos(F64<1>(double(angle)))[0]);
        level[1] = float(sin(F64<1>(double(angle)))[0]);
    }
};

template <class Source>
struct Grains {
    using OneGrain = Grain<Source>;

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
                    if (now > 0.f && s.before[lane] <= 0.f && count + 1 < s.most[lane])
                        count += begin(grains[count], op, block, lane, i, n);
                    s.before[lane] = now;
                }
                s.count[lane] = count;
            });
        }

    private:
        /// How many grains there are more: 0 or 1.
        [[gnu::noinline]] static int begin(OneGrain& grain, const Op& op, const Block& block, int lane, int from,
                                           int to) {
            const At<L> at(op, block, lane, is_audio(op, trigger_input) ? from : 0);
            const double length = double(at.in(duration_input)) * block.audio->samples;
            const double frames = shortest > length ? shortest : length;
            grain.frames = int_of(frames);
            if (!grain.envelope.begin(block, at.in(Source::inputs.window), frames) || !grain.source.begin(at))
                return 0;
            grain.place(at.in(Source::inputs.pan), op.outputs);
            (void)sound(grain, op, block, lane, from, to);
            return grain.frames > 0;
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
        const int32_t wanted = int_of(*input(op, block, Source::inputs.most));
        const int32_t most = wanted < 1 ? 1 : wanted < most_grains ? wanted : most_grains;
        s.most[0] = most;
        s.grains[0] = claim<OneGrain>(block, size_t(most));
        if (!s.grains[0])
            return complain_of_memory(op, block);
        run_first_frame(Run<1>::run, op, block);
    }

    static constexpr Kernel kernel = [] {
        Kernel made = buffer_kernel<Run, State>(start);
        made.stop = give_back<&State<1>::grains>;
        made.reads_after_writing = true;
        made.start_cost = 1000;
        made.takes_long = true;
        return made;
    }();

    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio || s.inputs.size() != Source::inputs.most + 1 || s.outputs < 1)
            return nullptr;
        for (const Signature::Input& input : s.inputs)
            if (input.rate == Rate::demand)
                return nullptr;
        const Signature::Input& most = s.inputs[Source::inputs.most];
        return most.constant && most.value > float(most_grains) ? nullptr : &kernel;
    }
};

const Kernel* choose_of_signal(const Signature& s) {
    return s.inputs.size() > Signal::signal && s.audio(Signal::signal) ? Grains<Signal>::choose(s) : nullptr;
}

constexpr NativeUgen list[] = {
    {"GrainBuf", Grains<Samples>::choose},
    {"GrainFM", Grains<Modulated>::choose},
    {"GrainIn", choose_of_signal},
    {"GrainSin", Grains<Sine>::choose},
};

} // namespace

SCS_FAMILY(grains)

} // namespace scs::SCS_SIMD

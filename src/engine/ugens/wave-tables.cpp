// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sample-buffers.hpp"

namespace scs::SCS_SIMD {
namespace {

// Units that look up samples in a buffer: oscillators, shapers, Index and its kin. A wavetable has a pair of numbers, 2
// a - b and b - a, for each sample a and the next one b: a + (b - a) x is the first plus (1 + x) times the second.

constexpr double radian = 0.1591549430918953357689; ///< cycles
constexpr double step = 65536.;                     ///< of phase, from one sample of a table to the next
constexpr int32_t most_samples = 131072;

struct Table {
    const float* data;
    int32_t size; ///< samples, in all channels together
    SCS_INLINE Table(const Block& block, int lane, float number) {
        const SampleBuffer buffer = buffer_of(block, lane, number);
        data = buffer.data;
        size = data ? buffer.frames * buffer.channels : 0;
    }
    SCS_INLINE bool cyclic(int32_t least) const {
        return size >= least && size <= most_samples && (size & (size - 1)) == 0;
    }
};

SCS_INLINE float pair(const float* data, int32_t index, float part) {
    return data[2 * index] + data[2 * index + 1] * part;
}

struct Interpolated {
    static constexpr int32_t samples = 2; ///< for each step
    SCS_INLINE static float at(const Table& table, uint32_t phase) {
        return pair(table.data, int32_t(phase >> 16) & (table.size / 2 - 1), 1.f + float(phase & 0xffff) * 0x1p-16f);
    }
};
struct Nearest {
    static constexpr int32_t samples = 1;
    SCS_INLINE static float at(const Table& table, uint32_t phase) {
        return table.data[(int32_t(phase) >> 16) & (table.size - 1)];
    }
};

template <int L>
SCS_INLINE void fill(float* out, int n, float value) {
    for (int i = 0; i < n; ++i)
        out[i * L] = value;
}

/// Writes f(frame) to each frame of a voice.
template <int L, class F>
SCS_INLINE void each_frame(float* out, int n, F&& f) {
    for (int i = 0; i < n; ++i)
        out[i * L] = f(i);
}

// ---- Osc, OscN

enum { table_number, freq, phase_in };

template <int N>
struct OscState {
    static constexpr size_t items64 = 0;
    uint32_t phase[N];
    float offset[N]; ///< radians, in the previous block
};

template <class Reading>
struct Oscillator {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) { voice(op, block, lane); });
        }
        SCS_INLINE static void voice(const Op& op, Block& block, int lane) {
            auto& s = state<OscState<L>>(op, block);
            float* out = output(op, block) + lane;
            const int n = at_audio_rate(op) ? block.frames : 1;
            const Table table(block, lane, input(op, block, table_number)[lane]);
            if (!table.cyclic(Reading::samples))
                return fill<L>(out, n, 0.f);
            const int32_t steps = table.size / Reading::samples;
            const double cycles = steps * (at_audio_rate(op) ? block.audio : block.control)->duration * step;
            const double radians = steps * (radian * step);
            const float each_cycle = float(cycles), each_radian = float(radians);
            const LaneIn<L> freqs(op, block, freq, lane), offsets(op, block, phase_in, lane);
            const bool audio_freq = is_audio(op, freq), audio_offset = is_audio(op, phase_in);
            const auto held = uint32_t(int_of(cycles * double(freqs.at(0))));
            const double slope = audio_offset ? 0. : double(offsets.at(0) - s.offset[lane]) * (1. / n);
            const float to = offsets.at(0);
            uint32_t phase = s.phase[lane];
            if (!audio_freq && !audio_offset) {
                const uint32_t growth = held + uint32_t(int_of(slope * radians));
                each_frame<L>(out, n, [&](int) {
                    const float value = Reading::at(table, phase);
                    phase += growth;
                    return value;
                });
            } else {
                float offset = s.offset[lane];
                const auto slope_a_frame = float(slope);
                each_frame<L>(out, n, [&](int i) {
                    if (audio_offset)
                        offset = offsets.at(i);
                    const uint32_t growth = audio_freq ? uint32_t(int_of(each_cycle * freqs.at(i))) : held;
                    const float value = Reading::at(table, phase + uint32_t(int_of(each_radian * offset)));
                    phase += growth;
                    offset += slope_a_frame;
                    return value;
                });
            }
            if (!audio_offset)
                s.offset[lane] = to;
            s.phase[lane] = phase;
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<OscState<1>>(op, block);
        const Table table(block, 0, *input(op, block, table_number));
        const double radians = table.size / Reading::samples * (radian * step);
        const float offset = *input(op, block, phase_in);
        const bool moving = is_audio(op, freq) || is_audio(op, phase_in);
        s.offset[0] = offset;
        s.phase[0] = moving ? 0u : uint32_t(int_of(double(offset) * radians));
        const uint32_t first = moving ? uint32_t(int_of(float(radians) * offset)) : s.phase[0];
        *output(op, block) = table.cyclic(Reading::samples) ? Reading::at(table, first) : 0.f;
    }

    static constexpr Kernel kernel = buffer_kernel<Run, OscState>(start);
};

// ---- COsc: two detuned oscillators that beat

template <int N>
struct BeatState {
    static constexpr size_t items64 = 0;
    uint32_t upper[N], lower[N];
};

template <int L>
struct Beating {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { voice(op, block, lane, at_audio_rate(op) ? block.frames : 1); });
    }
    SCS_INLINE static void voice(const Op& op, Block& block, int lane, int n) {
        auto& s = state<BeatState<L>>(op, block);
        float* out = output(op, block) + lane;
        const Table table(block, lane, input(op, block, table_number)[lane]);
        if (!table.cyclic(2))
            return fill<L>(out, n, 0.f);
        const double cycles = table.size / 2 * (at_audio_rate(op) ? block.audio : block.control)->duration * step;
        const auto middle = uint32_t(int_of(cycles * double(input(op, block, freq)[lane])));
        const auto beats = uint32_t(int_of(cycles * double(input(op, block, 2)[lane] * 0.5f)));
        uint32_t upper = s.upper[lane], lower = s.lower[lane];
        each_frame<L>(out, n, [&](int) {
            const float value = Interpolated::at(table, upper) + Interpolated::at(table, lower);
            upper += middle + beats;
            lower += middle - beats;
            return value;
        });
        s.upper[lane] = upper;
        s.lower[lane] = lower;
    }
};

void start_beating(const Op& op, Block& block) SCS_NONBLOCKING {
    Beating<1>::voice(op, block, 0, 1);
    state<BeatState<1>>(op, block) = {};
}

constexpr Kernel beating = buffer_kernel<Beating, BeatState>(start_beating);

// ---- Index and its kin: of(table, in, moving) is a sample; moving: the block has several frames

SCS_INLINE int32_t clip(int32_t index, int32_t last) {
    return index < 0 ? 0 : index > last ? last : index;
}
SCS_INLINE int32_t wrap(int32_t index, int32_t count) {
    const int32_t rest = index % count;
    return rest < 0 ? rest + count : rest;
}

struct Clipped {
    SCS_INLINE static float of(const Table& t, float in, bool) { return t.data[clip(int_of(in), t.size - 1)]; }
};
struct Wrapped {
    SCS_INLINE static float of(const Table& t, float in, bool moving) {
        return t.data[wrap(int_of(moving ? in : floor(F32<1>(in))[0]), t.size)];
    }
};
struct Folded {
    SCS_INLINE static float of(const Table& t, float in, bool) {
        const int64_t last = t.size - 1, turn = 2 * last; // there and back; may be too large for an int
        const int64_t rest = last ? int_of(in) % turn : 0, index = rest < 0 ? rest + turn : rest;
        return t.data[index > last ? turn - index : index];
    }
};
struct Between {
    SCS_INLINE static float of(const Table& t, float in, bool) {
        const int32_t index = clip(int_of(in), t.size - 1);
        const float part = in - floor(F32<1>(in))[0];
        return linear(part, t.data[index], t.data[clip(index + 1, t.size - 1)]);
    }
};
/// Reads a wavetable from its start (in = -1) to its end (in = 1).
struct Shape {
    SCS_INLINE static float of(const Table& t, float in, bool) {
        if (t.size < 2)
            return 0.f;
        const float middle = float(double(t.size) * 0.25), last = float(double(t.size / 2) - 0.001);
        float place = middle + in * middle;
        place = place < last ? place : last;
        place = place > 0.f ? place : 0.f;
        // Rounded to float, the place may lie at the end.
        const int32_t index = clip(int32_t(place), t.size / 2 - 1);
        return pair(t.data, index, place - float(index - 1));
    }
};

template <int N>
struct ShaperState {
    static constexpr size_t items64 = 0;
    float in[N]; ///< in the previous block
};

template <class Kind, bool Shapes = false>
struct Lookup {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) { voice(op, block, lane); });
        }
        SCS_INLINE static void voice(const Op& op, Block& block, int lane) {
            float* out = output(op, block) + lane;
            const int n = at_audio_rate(op) ? block.frames : 1;
            const Table table(block, lane, input(op, block, table_number)[lane]);
            if (!table.size)
                return fill<L>(out, n, 0.f);
            const LaneIn<L> in(op, block, 1, lane);
            if (n == 1 || is_audio(op, 1))
                return each_frame<L>(out, n, [&](int i) { return Kind::of(table, in.at(i), n > 1); });
            const float held = in.at(0);
            if constexpr (Shapes) {
                // As in SuperCollider, the input starts at its new value and moves on in each frame by its change,
                // counted in samples of the table.
                float& before = state<ShaperState<L>>(op, block).in[lane];
                const float slope = (held - before) * float(double(table.size) * 0.25);
                if (held != before) {
                    before = held;
                    float moving = held;
                    return each_frame<L>(out, n, [&](int) {
                        const float value = Kind::of(table, moving, true);
                        moving += slope;
                        return value;
                    });
                }
            }
            fill<L>(out, n, Kind::of(table, held, true));
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        const Table table(block, 0, *input(op, block, table_number));
        const float in = *input(op, block, 1);
        if constexpr (Shapes)
            state<ShaperState<1>>(op, block).in[0] = in;
        *output(op, block) = table.size ? Kind::of(table, in, false) : 0.f;
    }
    static constexpr Kernel kernel = [] {
        if constexpr (Shapes)
            return buffer_kernel<Run, ShaperState>(start);
        else
            return buffer_kernel<Run, Stateless>(start);
    }();
};

template <const Kernel& kernel>
const Kernel* choose(const Signature& s) {
    return s.rate == Rate::audio || s.rate == Rate::control ? &kernel : nullptr;
}

constexpr NativeUgen list[] = {
    {"Osc", choose<Oscillator<Interpolated>::kernel>},
    {"OscN", choose<Oscillator<Nearest>::kernel>},
    {"COsc", choose<beating>},
    {"Index", choose<Lookup<Clipped>::kernel>},
    {"IndexL", choose<Lookup<Between>::kernel>},
    {"WrapIndex", choose<Lookup<Wrapped>::kernel>},
    {"FoldIndex", choose<Lookup<Folded>::kernel>},
    {"Shaper", choose<Lookup<Shape, true>::kernel>},
};

} // namespace

SCS_FAMILY(wave_tables)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Units that follow their input in straight lines.

// ---- Slew: with a limited slope per second

enum { in, up, down };

template <int N>
struct SlewState {
    static constexpr size_t items64 = 1;
    double level[N];
};

template <class Form>
SCS_INLINE void slew(const Op& op, const Block& block, int n, const UnitRate& rate) {
    constexpr int N = Form::width;
    auto& s = state<SlewState<N>>(op, block);
    const float* from = input(op, block, in);
    float* out = output(op, block);
    const F32<N> duration(float(rate.duration));
    const F64<N> rise = convert<double>(Form::control(input(op, block, up)) * duration);
    const F64<N> fall = convert<double>(F32<N>(0.f) - Form::control(input(op, block, down)) * duration);
    F64<N> level = Form::get(s.level);
    for (int i = 0; i < n; ++i) {
        const F64<N> way = convert<double>(Form::audio(from, i)) - level;
        const F64<N> most = select(rise < way, rise, way);
        level += select(most < fall, fall, most);
        Form::put(out, i, convert<float>(level));
    }
    Form::keep(s.level, level);
}

template <class Form>
struct SlewAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { slew<Form>(op, block, block.frames, *block.audio); }
};
template <class Form>
struct SlewControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { slew<Form>(op, block, 1, *block.control); }
};

void start_slew(const Op& op, Block& block, const UnitRate& rate) {
    state<SlewState<1>>(op, block).level[0] = *input(op, block, in);
    slew<Scalar>(op, block, 1, rate);
}

constexpr Kernel slew_audio = vector_kernel<SlewAudio, SlewState, Scalar>(
    [](const Op& op, Block& b) SCS_NONBLOCKING { start_slew(op, b, *b.audio); });
constexpr Kernel slew_control = vector_kernel<SlewControl, SlewState, Scalar>(
    [](const Op& op, Block& b) SCS_NONBLOCKING { start_slew(op, b, *b.control); });

// ---- Ramp: reaches a sample of the input after each period

enum { ramp_in, period };

template <int N>
struct RampState {
    static constexpr size_t items64 = 2;
    double level[N], slope[N];
    int32_t counter[N];
};

template <int L>
SCS_INLINE void ramp(const Op& op, const Block& block, int n, const UnitRate& rate) {
    auto& s = state<RampState<L>>(op, block);
    each_lane<L>(block, [&](int lane) {
        const LaneIn<L> from(op, block, ramp_in, lane);
        float* out = output(op, block) + lane;
        const int32_t steps = at_least_one(int_of(double(input(op, block, period)[lane]) * rate.samples));
        const float first = from.at(0); // read now, as the output may share memory with the input
        double level = s.level[lane], slope = s.slope[lane];
        int32_t counter = s.counter[lane];
        const auto aim = [&](float to) {
            counter = steps;
            slope = (double(to) - level) / counter;
        };
        for (int i = 0; i < n;) {
            // Also in the block's first frame. There SuperCollider has already read beyond the end of the previous
            // block.
            if (counter <= 0)
                aim(from.at(i));
            const int end = counter < n - i ? i + counter : n;
            counter -= end - i;
            for (; i < end; ++i) {
                out[i * L] = float(level);
                level += slope;
            }
        }
        // At control rate, the next line goes to the sample of the block in which the period ends.
        if (n == 1 && counter <= 0)
            aim(first);
        s.level[lane] = level;
        s.slope[lane] = slope;
        s.counter[lane] = counter;
    });
}

template <int L>
struct RampAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { ramp<L>(op, block, block.frames, *block.audio); }
};
template <int L>
struct RampControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { ramp<L>(op, block, 1, *block.control); }
};

void start_ramp(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<RampState<1>>(op, block);
    s.counter[0] = 1;
    s.level[0] = *output(op, block) = *input(op, block, ramp_in);
}

constexpr Kernel ramp_audio = lane_kernel<RampAudio, RampState>(start_ramp);
constexpr Kernel ramp_control = lane_kernel<RampControl, RampState>(start_ramp);

// ---- VarLag: reaches a new input after a time, which may change on the way

enum { target, lag_time, lag_from };

template <int N>
struct VarLagState {
    static constexpr size_t items64 = 2;
    double level[N], slope[N];
    int32_t counter[N];
    float target[N], time[N];
};

/// Starts a line to a new input. If only the time changes, the rest of the line is rescaled; at audio rate also when
/// nothing of it is left.
template <bool Audio, int L>
SCS_INLINE void set_out(const Op& op, const Block& block, VarLagState<L>& s, int lane, const UnitRate& rate) {
    const float to = input(op, block, target)[lane], time = input(op, block, lag_time)[lane];
    if (to != s.target[lane]) {
        s.counter[lane] = at_least_one(int_of(double(time) * rate.samples));
        s.slope[lane] = (double(to) - s.level[lane]) / s.counter[lane];
        s.target[lane] = to;
        s.time[lane] = time;
    } else if (time != s.time[lane]) {
        const float scale = time / s.time[lane];
        if (Audio || s.counter[lane] != 0) {
            s.counter[lane] = at_least_one(
                int_of(Audio ? double(float(s.counter[lane]) * scale) : double(s.counter[lane]) * double(scale)));
            s.slope[lane] /= double(scale);
        }
        s.time[lane] = time;
    }
}

template <int L>
struct VarLagAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<VarLagState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            set_out<true>(op, block, s, lane, *block.audio);
            float* out = output(op, block) + lane;
            double level = s.level[lane];
            int32_t counter = s.counter[lane];
            const bool moving = counter > 0;
            for (int i = 0, n = block.frames; i < n; ++i) {
                out[i * L] = float(level);
                if (counter > 0) {
                    level += s.slope[lane];
                    --counter;
                } else if (moving) {
                    level = s.target[lane];
                }
            }
            s.level[lane] = level;
            s.counter[lane] = counter;
        });
    }
};

template <int L>
struct VarLagControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<VarLagState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            set_out<false>(op, block, s, lane, *block.control);
            output(op, block)[lane] = float(s.level[lane]);
            if (s.counter[lane] > 0) {
                s.level[lane] += s.slope[lane];
                --s.counter[lane];
            } else {
                s.level[lane] = s.target[lane];
            }
        });
    }
};

void start_var_lag(const Op& op, Block& block, const UnitRate& rate) {
    auto& s = state<VarLagState<1>>(op, block);
    s.level[0] = *input(op, block, lag_from);
    s.target[0] = *input(op, block, target);
    s.time[0] = *input(op, block, lag_time);
    s.counter[0] = at_least_one(int_of(double(s.time[0]) * rate.samples));
    s.slope[0] = (double(s.target[0]) - s.level[0]) / s.counter[0];
    *output(op, block) = float(s.level[0]);
}

constexpr Kernel var_lag_audio = lane_kernel<VarLagAudio, VarLagState>(
    [](const Op& op, Block& b) SCS_NONBLOCKING { start_var_lag(op, b, *b.audio); });
constexpr Kernel var_lag_control = lane_kernel<VarLagControl, VarLagState>(
    [](const Op& op, Block& b) SCS_NONBLOCKING { start_var_lag(op, b, *b.control); });

template <const Kernel& Audio, const Kernel& Control>
const Kernel* choose(const Signature& s) {
    if (s.rate != Rate::audio)
        return &Control;
    return s.audio(0) ? &Audio : nullptr;
}

constexpr NativeUgen list[] = {
    {"Ramp", choose<ramp_audio, ramp_control>},
    {"Slew", choose<slew_audio, slew_control>},
    {"VarLag",
     [](const Signature& s) -> const Kernel* { return s.rate == Rate::audio ? &var_lag_audio : &var_lag_control; }},
};

} // namespace

SCS_FAMILY(slopes)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/demand.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

// DemandEnvGen: an envelope whose levels, durations, shapes and curves are asked for when a segment begins.

namespace scs::SCS_SIMD {
namespace {

enum Input { level, duration, shape, curve, gate, reset, level_scale, level_bias, time_scale, action, inputs };
enum Shape : int32_t { step, linear, exponential, sine, welch, curved, squared, cubed };

constexpr double pi = 3.14159265358979323846;
constexpr float longest = 3.40282346638528859812e38f;

/// What goes on from block to block.
template <int N>
struct DemandEnvState {
    static constexpr size_t items64 = 7;
    double level[N], end[N]; ///< end: of the segment
    double curve[N];
    double growth[N], offset[N], y1[N], y2[N];
    float phase[N];                  ///< frames until the next segment
    float reset[N];                  ///< in the last block or frame
    int32_t shape[N];                ///< and curve: of the last block's segment, for those for which none is given
    int32_t released[N], running[N]; ///< released: it is done at the end of this segment
};

SCS_INLINE double power(double x, double y) {
    return pow(F64<1>(x), F64<1>(y))[0];
}
SCS_INLINE double root(double x) {
    return sqrt(F64<1>(x))[0];
}
SCS_INLINE double sine_of(double x) {
    return sin(F64<1>(x))[0];
}
SCS_INLINE double cosine_of(double x) {
    return cos(F64<1>(x))[0];
}
SCS_INLINE double exponential_of(double x) {
    return exp(F64<1>(x))[0];
}

/// A voice's block. `Audio`: the gate is at audio rate, and so the reset; then what is asked for when differs as in
/// SuperCollider.
template <int L, bool Audio>
class Player {
public:
    SCS_INLINE Player(const Op& op, Block& block, int lane)
        : op_(op),
          block_(block),
          lane_(lane),
          pull_(pull_for(block, lane, 0)),
          in_(op, pull_),
          s_(state<DemandEnvState<L>>(op, block)),
          rate_(own_rate(op, block).samples),
          shape_(s_.shape[lane]),
          curve_(s_.curve[lane]),
          released_(s_.released[lane] != 0) {}

    SCS_INLINE void run(float* out, int frames) {
        const LaneIn<L> gates(op_, block_, gate, lane_), resets(op_, block_, reset, lane_);
        bool running = s_.running[lane_] != 0;
        float& before = s_.reset[lane_];
        for (int i = 0; i < frames; ++i) {
            pull_.frame = Audio ? i + 1 : 1;
            const float now = resets.at(Audio ? i : 0);
            if (now > 0.f && before <= 0.f)
                begin_anew(now, running);
            if constexpr (Audio)
                before = now;
            if (s_.phase[lane_] <= 0.f && running)
                turn(running);
            if (running)
                move();
            out[i * L] = float(s_.level[lane_]);
            if constexpr (Audio)
                follow(gates.at(i));
        }
        if constexpr (!Audio) {
            follow(gates.at(0));
            before = resets.at(0);
        }
        s_.released[lane_] = released_;
        s_.shape[lane_] = shape_;
        s_.curve[lane_] = curve_;
    }

private:
    /// Whether it runs counts from the next block on.
    SCS_INLINE void follow(float gate_now) {
        s_.running[lane_] = gate_now > 0.f;
        released_ = released_ || (gate_now > 0.f && gate_now < 1.f);
    }

    [[gnu::noinline]] void begin_anew(float now, bool& running) {
        in_.restart(level);
        if constexpr (!Audio)
            restart_segments();
        const float first = in_.next(level);
        if (now > 1.f)
            s_.level[lane_] = double(first); // else it goes on from where it is
        if constexpr (Audio)
            restart_segments();
        released_ = false;
        running = true;
        s_.phase[lane_] = 0.f;
    }
    void restart_segments() {
        in_.restart(duration);
        in_.restart(shape);
        if constexpr (!Audio)
            in_.restart(curve);
    }

    /// Ends, or begins the next segment.
    [[gnu::noinline]] void turn(bool& running) {
        if (released_) {
            running = released_ = false;
            return act(block_, lane_, in_.held(action));
        }
        float& phase = s_.phase[lane_];
        const float lasts = in_.next(duration);
        if (is_no_number(lasts)) {
            released_ = true;
            running = false;
            phase = longest;
        } else {
            phase = float(double(lasts * in_.held(time_scale)) * rate_ + double(phase));
        }
        if constexpr (Audio)
            ask_curve();
        const float asked = in_.next(shape);
        shape_ = is_no_number(asked) ? s_.shape[lane_] : int_of(asked);
        if constexpr (!Audio)
            ask_curve();
        float count = phase;
        if (phase <= 1.f) {
            shape_ = linear;
            count = 1.f;
        }
        if (double(lasts * 0.5f) < 1. / rate_)
            shape_ = linear;
        const float target = in_.next(level);
        if (is_no_number(target)) {
            released_ = true;
            phase = 0.f;
            shape_ = step;
        } else {
            s_.end[lane_] = double(target) * double(in_.held(level_scale)) + double(in_.held(level_bias));
        }
        begin(double(count));
    }
    void ask_curve() {
        const float asked = in_.next(curve);
        curve_ = is_no_number(asked) ? s_.curve[lane_] : double(asked);
    }

    /// Sets what a segment of `count` frames is computed with.
    void begin(double count) {
        double &from = s_.level[lane_], &growth = s_.growth[lane_], &y1 = s_.y1[lane_], &y2 = s_.y2[lane_];
        double& offset = s_.offset[lane_];
        const double to = s_.end[lane_];
        switch (shape_) {
        case step: from = to; break;
        case linear: growth = (to - from) / count; break;
        case exponential: growth = power(to / from, 1. / count); break;
        case sine: {
            const double w = pi / count;
            offset = (to + from) * 0.5;
            growth = 2. * cosine_of(w);
            y1 = (to - from) * 0.5;
            y2 = y1 * sine_of(pi * 0.5 - w);
            from = offset - y1;
            break;
        }
        case welch: {
            const double w = pi * 0.5 / count;
            growth = 2. * cosine_of(w);
            if (to >= from) {
                offset = from;
                y1 = 0.;
                y2 = -sine_of(w) * (to - from);
            } else {
                offset = to;
                y1 = from - to;
                y2 = cosine_of(w) * (from - to);
            }
            from = offset + y1;
            break;
        }
        case curved: {
            const double bend = curve_;
            if (bend < 0.001 && bend > -0.001) {
                s_.shape[lane_] = shape_ = linear;
                growth = (to - from) / count;
                break;
            }
            y1 = (to - from) / (1. - exponential_of(bend));
            offset = from + y1;
            growth = exponential_of(bend / ceil(F64<1>(count))[0]);
            break;
        }
        case squared:
            y1 = root(from);
            growth = (root(to) - y1) / count;
            break;
        case cubed:
            y1 = power(from, 0.33333333);
            growth = (power(to, 0.33333333) - y1) / count;
            break;
        default: break;
        }
    }

    SCS_INLINE void move() {
        double &now = s_.level[lane_], &y1 = s_.y1[lane_];
        const double growth = s_.growth[lane_];
        switch (shape_) {
        case linear: now += growth; break;
        case exponential: now *= growth; break;
        case sine: now = s_.offset[lane_] - swing(); break;
        case welch: now = s_.offset[lane_] + swing(); break;
        case curved:
            y1 *= growth;
            now = s_.offset[lane_] - y1;
            break;
        case squared:
            y1 += growth;
            now = y1 * y1;
            break;
        case cubed:
            y1 += growth;
            now = y1 * y1 * y1;
            break;
        default: break;
        }
        --s_.phase[lane_];
    }
    SCS_INLINE double swing() {
        double &y1 = s_.y1[lane_], &y2 = s_.y2[lane_];
        const double next = s_.growth[lane_] * y1 - y2;
        y2 = y1;
        y1 = next;
        return next;
    }

    const Op& op_;
    Block& block_;
    const int lane_;
    Pull pull_;
    const Asking<L> in_;
    DemandEnvState<L>& s_;
    const double rate_; ///< samples a second
    int32_t shape_;
    double curve_;
    bool released_;
};

template <bool Audio>
struct Playing {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) {
                Player<L, Audio>(op, block, lane).run(output(op, block) + lane, own_frames(op, block));
            });
        }
    };
    static const Kernel kernel;
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<DemandEnvState<1>>(op, block);
    Pull pull = pull_for(block, 0, 0);
    const Asking<1> in(op, pull);
    const float first = in.next(level);
    s.level[0] = s.end[0] = is_no_number(first) ? 0. : double(first);
    s.running[0] = in.held(gate) > 0.f;
    run_first_frame(Playing<false>::Run<1>::run, op, block);
}

template <bool Audio>
constinit const Kernel Playing<Audio>::kernel = [] {
    Kernel made = lane_kernel<Run, DemandEnvState>(start);
    made.acts_when_done = true;
    made.reads_after_writing = true;
    made.pulls = true;
    made.takes_long = true;
    return made;
}();

const Kernel* choose(const Signature& s) {
    if ((s.rate != Rate::audio && s.rate != Rate::control) || s.outputs != 1 || s.inputs.size() != inputs)
        return nullptr;
    for (size_t i = gate; i < inputs; ++i)
        if (is_demand(s, i))
            return nullptr;
    if (!s.audio(gate))
        return &Playing<false>::kernel;
    // SuperCollider's reads beyond a reset that isn't audio: that stays its own.
    return s.audio(reset) ? &Playing<true>::kernel : nullptr;
}

constexpr NativeUgen list[] = {{"DemandEnvGen", choose}};

} // namespace

SCS_FAMILY(demand_env_gen)

} // namespace scs::SCS_SIMD

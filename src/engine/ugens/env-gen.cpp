// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/segments.hpp"

namespace scs::SCS_SIMD {
namespace {

enum Input : int { gate, level_scale, level_bias, time_scale, action, first_level, stages, release_node, loop_node, nodes };
constexpr int node_level = 0, node_time = 1, node_shape = 2, node_curve = 3, node_inputs = 4;

constexpr int32_t not_started = 1000000000, forever = INT32_MAX;
constexpr double pi = 3.14159265358979323846;

/// What a segment does. Up to cubed as SuperCollider numbers its shapes; but exponentials are curves towards 0.
enum Kind : int32_t { staying, linear, exponential, sine, welch, curve, squared, cubed, held };

template <int N>
struct EnvState {
    static constexpr size_t items64 = 6;
    double level[N];  ///< the next sample
    double end[N];    ///< level at the segment's end
    double growth[N]; ///< what a sample adds or multiplies
    double offset[N]; ///< what y1 is added to or taken from
    double y1[N], y2[N];
    float gate[N];      ///< in the block before
    int32_t counter[N]; ///< samples left of the segment
    int32_t stage[N], kind[N];
    int32_t release_node[N], released[N];
};

SCS_INLINE double power(double x, double y) {
    return pow(F64<1>(x), F64<1>(y))[0];
}
SCS_INLINE double root(double x) {
    return sqrt(F64<1>(x))[0];
}
SCS_INLINE double exponential_of(double x) {
    return exp(F64<1>(x))[0];
}

/// The turns of one voice at which its segments change. The inputs other than the gate are read only there.
template <int L>
class Envelope {
public:
    SCS_INLINE Envelope(const Op& op, Block& block, int lane)
        : op_(op), block_(block), lane_(lane), s_(state<EnvState<L>>(op, block)) {}

    double& level() { return s_.level[lane_]; }
    int32_t& counter() { return s_.counter[lane_]; }

    /// How many of `most` samples of an audio gate pass before one that means something. Follows those.
    int follow(const float* open, int most) {
        float before = s_.gate[lane_];
        int count = 0;
        for (; count < most; ++count) {
            const float now = open[count * L];
            if ((before <= 0.f && now > 0.f) || (before > -1.f && now <= -1.f) ||
                (before > 0.f && now <= 0.f && releasable()))
                break;
            before = now;
        }
        s_.gate[lane_] = before;
        return count;
    }

    /// Follows the gate.
    void turn_gate(float now) {
        const float before = s_.gate[lane_];
        s_.gate[lane_] = now;
        if (before <= 0.f && now > 0.f) {
            s_.stage[lane_] = -1;
            s_.released[lane_] = false;
            done_flag(op_, block_, lane_) = false;
            counter() = 0;
        } else if (before > -1.f && now <= -1.f) {
            // Forced: the last segment in the time that the gate tells, from where the level is.
            s_.stage[lane_] = int32_t(int64_t(int_of(in(stages))) - 1);
            s_.released[lane_] = true;
            begin(level(), double(-now - 1.f), true);
        } else if (before > 0.f && now <= 0.f && releasable()) {
            s_.stage[lane_] = s_.release_node[lane_] - 1;
            s_.released[lane_] = true;
            counter() = 0;
        }
    }

    /// When the counter has run down: the next segment.
    void turn_stage() {
        const int64_t count = int_of(in(stages)), next = int64_t(s_.stage[lane_]) + 1;
        if (next >= count) {
            counter() = forever;
            s_.kind[lane_] = staying;
            level() = s_.end[lane_];
            done(op_, block_, lane_, in(action));
        } else if (s_.stage[lane_] == not_started) {
            counter() = forever;
        } else if (next == int_of(in(release_node)) && !s_.released[lane_]) {
            const int32_t loop = int_of(in(loop_node));
            if (loop >= 0 && loop < count) {
                s_.stage[lane_] = loop;
                begin_in_time();
            } else {
                counter() = forever;
                s_.kind[lane_] = staying;
                level() = s_.end[lane_];
            }
        } else {
            s_.stage[lane_] = int32_t(next);
            begin_in_time();
        }
    }

    /// As at a synth's start, with its first sample.
    float construct() {
        s_.end[lane_] = level() = in(first_level) * in(level_scale) + in(level_bias);
        s_.stage[lane_] = not_started;
        s_.kind[lane_] = held;
        s_.release_node[lane_] = int_of(in(release_node));
        if (op_.inputs > nodes + node_shape && int_of(in(nodes + node_shape)) == held)
            level() = in(nodes + node_level);
        turn_gate(in(gate));
        if (counter() <= 0)
            turn_stage();
        float first;
        perform(&first, 1);
        --counter();
        return first;
    }

    /// `count` samples of the segment.
    void perform(float* out, int count) {
        double& level = this->level();
        double& y1 = s_.y1[lane_];
        double& y2 = s_.y2[lane_];
        const double growth = s_.growth[lane_], offset = s_.offset[lane_];
        const float first = float(level);
        // The samples are those before each step.
        const auto steps = [&](auto&& step) {
            for (int i = 0; i < count; ++i) {
                out[i * L] = float(level);
                step();
            }
        };
        switch (s_.kind[lane_]) {
        case linear:
            put_line<L>(out, level, growth, count);
            level += growth * double(count);
            break;
        case exponential:
        case curve:
            y1 = each_power(F64<1>(y1), F64<1>(growth), count, [&](int i, F64<1> y) {
                out[i * L] = float(offset - y[0]);
            })[0];
            level = offset - y1;
            break;
        case sine:
        case welch: {
            const bool up = s_.kind[lane_] == welch;
            steps([&] {
                const double y0 = growth * y1 - y2;
                y2 = y1;
                y1 = y0;
                level = up ? offset + y0 : offset - y0;
            });
            break;
        }
        case squared:
            steps([&] {
                y1 += growth;
                level = y1 * y1;
            });
            break;
        case cubed:
            steps([&] {
                y1 += growth;
                y1 = y1 > 0.0 ? y1 : 0.0;
                level = y1 * y1 * y1;
            });
            break;
        default:
            put_held<L>(out, first, count);
        }
        if (count > 0)
            out[0] = first; // even if the growth is infinite
    }

private:
    SCS_INLINE float in(int index) const { return input(op_, block_, size_t(index))[lane_]; }
    SCS_INLINE bool releasable() const { return s_.release_node[lane_] >= 0 && !s_.released[lane_]; }

    SCS_INLINE int64_t node() const { return nodes + int64_t(node_inputs) * s_.stage[lane_]; }

    SCS_INLINE void begin_in_time() {
        const int64_t at = node();
        const float time = at >= 0 && at + node_inputs <= op_.inputs ? in(int(at) + node_time) : 0.f;
        begin(level(), double(time * in(time_scale)), false);
    }

    /// A stage's segment, from `level` on. Forced: what is heard goes on from where it is.
    void begin(double from, double seconds, bool forced) {
        const int64_t at = node();
        const double rate = is_audio(op_, op_.inputs) ? block_.audio->samples : block_.control->samples;
        const int32_t count = at_least_one(samples_of(seconds * rate));
        counter() = count;
        if (at < 0 || at + node_inputs > op_.inputs) { // beyond the envelope's end
            silence();
            return;
        }
        const int first = int(at);
        const double previous_end = double(float(s_.end[lane_]));
        if (s_.kind[lane_] == held)
            from = previous_end;
        const double end = in(first + node_level) * in(level_scale) + in(level_bias);
        const double bend = in(first + node_curve);
        int32_t kind = int_of(in(first + node_shape));
        s_.end[lane_] = end;
        if (count == 1 || (kind == curve && bend > -0.001 && bend < 0.001))
            kind = linear;
        double &growth = s_.growth[lane_], &offset = s_.offset[lane_], &y1 = s_.y1[lane_], &y2 = s_.y2[lane_];
        switch (kind) {
        case staying:
            from = end;
            break;
        case held:
            from = previous_end;
            break;
        case linear:
            growth = (end - from) / count;
            break;
        case exponential:
            growth = power(end / from, 1.0 / count);
            offset = 0.0;
            y1 = forced ? -level() : -from;
            break;
        case sine: {
            const double turn = pi / count;
            offset = (end + from) * 0.5;
            growth = 2.0 * cos(F64<1>(turn))[0];
            y1 = (end - from) * 0.5;
            y2 = y1 * sin(F64<1>(pi * 0.5 - turn))[0];
            from = offset - y1;
            break;
        }
        case welch: {
            const double turn = pi * 0.5 / count;
            growth = 2.0 * cos(F64<1>(turn))[0];
            if (end >= from) {
                offset = from;
                y1 = 0.0;
                y2 = -sin(F64<1>(turn))[0] * (end - from);
            } else {
                offset = end;
                y1 = from - end;
                y2 = cos(F64<1>(turn))[0] * (from - end);
            }
            from = offset + y1;
            break;
        }
        case curve:
            y1 = (end - from) / (1.0 - exponential_of(bend));
            offset = from + y1;
            growth = exponential_of(bend / count);
            break;
        case squared:
            y1 = root(from);
            growth = (root(end) - y1) / count;
            break;
        case cubed:
            y1 = power(from, 1.0 / 3.0);
            growth = (power(end, 1.0 / 3.0) - y1) / count;
            break;
        default:
            kind = staying;
        }
        s_.kind[lane_] = kind;
        if (!forced)
            level() = from;
    }

    /// The synth ends without having a say.
    void silence() {
        level() = s_.end[lane_] = 0.0;
        s_.kind[lane_] = staying;
        counter() = forever;
        act(block_, lane_, 2);
    }

    const Op& op_;
    Block& block_;
    const int lane_;
    EnvState<L>& s_;
};

void start(const Op& op, Block& block) {
    *output(op, block) = Envelope<1>(op, block, 0).construct();
}

/// Where a gate opens, closes or forces the release.
template <int N>
SCS_INLINE I32<N> crossings(F32<N> before, F32<N> now) {
    const F32<N> zero(0.f), minus_one(-1.f);
    return ((before <= zero) & (now > zero)) | ((before > zero) & (now <= zero)) |
           ((before > minus_one) & (now <= minus_one));
}

/// At control rate: segments change voice by voice, all else is done side by side.
template <class Form>
struct EnvGenControl {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<EnvState<N>>(op, block);
        const auto now = Form::control(input(op, block, gate)), before = Form::get(s.gate);
        const auto events = crossings(before, now) | (Form::get(s.counter) <= I32<N>(0));
        if (any(events)) {
            for (uint32_t left = bitmask(events) & block.live; left; left &= left - 1) {
                const int lane = __builtin_ctz(left);
                Envelope<N> envelope(op, block, lane);
                envelope.turn_gate(now[lane]);
                if (envelope.counter() <= 0)
                    envelope.turn_stage();
            }
        }
        Form::keep(s.gate, now);
        const auto level = Form::get(s.level);
        Form::put(output(op, block), 0, convert<float>(level));
        const auto kind = Form::get(s.kind);
        if (any((kind > I32<N>(staying)) & (kind < I32<N>(held))))
            step(s, kind, level);
        Form::keep(s.counter, Form::get(s.counter) - I32<N>(1));
    }

    SCS_INLINE static void step(EnvState<N>& s, I32<N> kind, F64<N> level) {
        const auto growth = Form::get(s.growth);
        const auto is = [&](Kind one) { return kind == I32<N>(one); };
        const auto lines = is(linear);
        auto next = level;
        if (any(lines))
            next = select(widen_mask(lines), level + growth, next);
        if (any((kind > I32<N>(linear)) & (kind < I32<N>(held)))) {
            const auto offset = Form::get(s.offset), y1 = Form::get(s.y1), y2 = Form::get(s.y2);
            auto y0 = y1;
            if (const auto powers = is(exponential) | is(curve); any(powers)) {
                const auto wide = widen_mask(powers);
                y0 = select(wide, y1 * growth, y0);
                next = select(wide, offset - y0, next);
            }
            if (const auto waves = is(sine) | is(welch); any(waves)) {
                const auto wide = widen_mask(waves);
                y0 = select(wide, growth * y1 - y2, y0);
                next = select(wide, select(widen_mask(is(welch)), offset + y0, offset - y0), next);
                Form::keep(s.y2, y1);
            }
            if (const auto roots = is(squared) | is(cubed); any(roots)) {
                const auto wide = widen_mask(roots), third = widen_mask(is(cubed));
                const auto sum = y1 + growth;
                y0 = select(wide, select(third, max(sum, F64<N>(0.0)), sum), y0);
                next = select(wide, select(third, y0 * y0 * y0, y0 * y0), next);
            }
            Form::keep(s.y1, y0);
        }
        Form::keep(s.level, next);
    }
};

/// A block of a voice at audio rate, piece by piece between the segments' ends and an audio gate's changes.
template <int L, bool AudioGate>
void in_pieces(const Op& op, Block& block, int lane) {
    Envelope<L> envelope(op, block, lane);
    const float* open = input(op, block, gate) + lane;
    float* out = output(op, block) + lane;
    if constexpr (!AudioGate)
        envelope.turn_gate(*open);
    for (int i = 0, n = block.frames; i < n;) {
        if (envelope.counter() <= 0)
            envelope.turn_stage();
        const int most = least(n - i, envelope.counter());
        const int count = AudioGate ? envelope.follow(open + i * L, most) : most;
        // The gate may share its memory with the output.
        const float next = AudioGate && count < most ? open[(i + count) * L] : 0.f;
        envelope.perform(out + i * L, count);
        if (AudioGate && count < most) {
            envelope.turn_gate(next);
            // A forced release counts from where the piece began.
            if (envelope.counter() > 0)
                envelope.counter() -= count;
        } else {
            envelope.counter() -= count;
        }
        i += count;
    }
}

template <bool AudioGate>
struct InPieces {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) {
            each_lane<L>(block, [&](int lane) { in_pieces<L, AudioGate>(op, block, lane); });
        }
    };
};

/// Voices on a straight line, an exponential or a level for all of the block are computed side by side.
void held_gates(const Op& op, Block& block) {
    constexpr int N = lanes;
    auto& s = state<EnvState<N>>(op, block);
    const int n = block.frames;
    float* out = output(op, block);
    const auto now = Batch::control(input(op, block, gate)), before = Batch::get(s.gate);
    const auto kind = Batch::get(s.kind), counter = Batch::get(s.counter);
    const auto lines = kind == I32<N>(linear), powers = (kind == I32<N>(exponential)) | (kind == I32<N>(curve));
    const auto still = (kind == I32<N>(staying)) | (kind == I32<N>(held));
    const auto smooth = (counter >= I32<N>(n)) & (lines | powers | still) & ~crossings(before, now);
    const uint32_t together = bitmask(smooth) & block.live;
    if (together) {
        const auto level = Batch::get(s.level), growth = Batch::get(s.growth);
        const auto on_line = widen_mask(lines & smooth), on_power = widen_mask(powers & smooth);
        const auto slope = select(on_line, growth, -0.0);
        const auto line_at = [&](int i) { return level + slope * F64<N>(double(i)); };
        auto next = level + slope * F64<N>(double(n));
        if (bitmask(powers) & together) {
            const auto offset = Batch::get(s.offset), y1 = Batch::get(s.y1);
            const auto y = each_power(y1, growth, n, [&](int i, F64<N> power) {
                Batch::put(out, i, convert<float>(select(on_power, offset - power, line_at(i))));
            });
            Batch::keep(s.y1, select(on_power, y, y1));
            next = select(on_power, offset - y, next);
        } else if (bitmask(lines) & together) {
            for (int i = 0; i < n; ++i)
                Batch::put(out, i, convert<float>(line_at(i)));
        } else {
            const auto stays = convert<float>(level);
            for (int i = 0; i < n; ++i)
                Batch::put(out, i, stays);
        }
        Batch::put(out, 0, convert<float>(level));
        Batch::keep(s.level, next);
        Batch::keep(s.counter, select(smooth, counter - I32<N>(n), counter));
        Batch::keep(s.gate, select(smooth, now, before));
    }
    for (uint32_t left = block.live & ~together; left; left &= left - 1)
        in_pieces<N, false>(op, block, __builtin_ctz(left));
}

constexpr Kernel with_action(Kernel made) {
    made.done_action = action;
    return made;
}

constexpr Kernel at_control_rate = with_action(vector_kernel<EnvGenControl, EnvState, Scalar>(start));
constexpr Kernel with_audio_gate = with_action(lane_kernel<InPieces<true>::Run, EnvState>(start));
// What is at audio rate may share its memory with the output: then no voice's output may be written before its turn.
constexpr Kernel with_audio_inputs = with_action(lane_kernel<InPieces<false>::Run, EnvState>(start));
constexpr Kernel with_held_gate = [] {
    Kernel made = with_audio_inputs;
    made.batch = held_gates;
    return made;
}();

constexpr NativeUgen list[] = {
    {"EnvGen",
     [](const Signature& s) -> const Kernel* {
         if (s.inputs.size() < nodes)
             return nullptr;
         if (s.rate != Rate::audio)
             return &at_control_rate;
         if (s.audio(gate))
             return &with_audio_gate;
         for (size_t i = 0; i < s.inputs.size(); ++i)
             if (s.audio(i))
                 return &with_audio_inputs;
         return &with_held_gate;
     }},
};

} // namespace

const std::span<const NativeUgen> env_gen = list;

} // namespace scs::SCS_SIMD

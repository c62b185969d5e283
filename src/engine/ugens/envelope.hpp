// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// EnvGen's envelope: its segments, and the changes from one to the next.

#include "engine/simd/math.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/segments.hpp"

namespace scs::SCS_SIMD::envelope {

enum Input : int {
    gate,
    level_scale,
    level_bias,
    time_scale,
    action,
    first_level,
    stages,
    release_node,
    loop_node,
    nodes, ///< then each stage's
};
constexpr int node_level = 0, node_time = 1, node_shape = 2, node_curve = 3, node_inputs = 4;

// Stages, and a count. not_ready: the first level isn't known before the first block.
constexpr int32_t not_started = 1000000000, not_ready = not_started + 1, ended = INT32_MAX, forever = INT32_MAX;
constexpr double pi = 3.14159265358979323846;

/// The kinds of segments. Up to `cubed` the numbers are SuperCollider's shapes, but exponentials are curves towards 0.
enum Kind : int32_t { staying, linear, exponential, sine, welch, curve, squared, cubed, held };

template <int N>
struct EnvState {
    static constexpr size_t items64 = 7;
    double level[N];  ///< the next sample
    double end[N];    ///< level at the segment's end
    double growth[N]; ///< what is added or multiplied at each sample
    double offset[N]; ///< what y1 is added to or subtracted from
    double y1[N], y2[N];
    double rest[N];     ///< since 3.14: by how many samples the segments before were too short
    float gate[N];      ///< its value in the last block
    int32_t counter[N]; ///< remaining samples of the segment
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

/// Which segments an envelope has: those of the release that is followed, or right ones. These last as long as those of
/// 3.14, and the last one has reached its level when the envelope is done.
enum class Segments { of_release, right };

/// The changes of segments of one voice. Inputs other than the gate are read only here.
template <int L, Segments segments = Segments::of_release>
class Envelope {
public:
    SCS_INLINE Envelope(const Op& op, Block& block, int lane)
        : op_(op), block_(block), lane_(lane), s_(state<EnvState<L>>(op, block)) {}

    double& level() { return s_.level[lane_]; }
    int32_t& counter() { return s_.counter[lane_]; }

    /// Skips samples of an audio gate that change nothing, at most `most`. Returns how many.
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
            settle();
            take_first_level();
            s_.stage[lane_] = -1;
            s_.released[lane_] = false;
            s_.rest[lane_] = 0.0;
            done_flag(op_, block_, lane_) = false;
            counter() = 0;
        } else if (before > -1.f && now <= -1.f) {
            // Forced release: the last segment, from the present level, in the time that the gate gives.
            settle();
            s_.stage[lane_] = int32_t(int64_t(int_of(in(stages))) - 1);
            s_.released[lane_] = true;
            begin(level(), double(-now - 1.f), true);
            s_.rest[lane_] = 0.0;
        } else if (before > 0.f && now <= 0.f && releasable()) {
            settle();
            take_first_level();
            s_.stage[lane_] = s_.release_node[lane_] - 1;
            s_.released[lane_] = true;
            s_.rest[lane_] = 0.0;
            counter() = 0;
        }
    }

    /// Begins the next segment, when the counter has run down. Returns whether the envelope has ended, or waits for its
    /// gate: for SuperCollider it is done then, too, and does its action.
    bool turn_stage() {
        const int64_t count = int_of(in(stages)), next = int64_t(s_.stage[lane_]) + 1;
        take_first_level();
        if (s_.stage[lane_] == ended) {
            stay();
        } else if (next >= count) {
            const bool waits = s_.stage[lane_] == not_started;
            if (since_3_14() && segments == Segments::of_release)
                stay_soon();
            else
                stay();
            if (!waits)
                done(op_, block_, lane_, in(action));
            return true;
        } else if (next == int_of(in(release_node)) && !s_.released[lane_]) {
            const int32_t loop = int_of(in(loop_node));
            if (loop >= 0 && loop < count) {
                s_.stage[lane_] = loop;
                begin_in_time();
            } else {
                stay();
            }
        } else {
            s_.stage[lane_] = int32_t(next);
            begin_in_time();
        }
        return false;
    }

    /// Does what the constructor does. Returns the first sample.
    float construct() {
        prepare();
        const bool opened = was_open(in(gate));
        turn_gate(opened ? 1.f : in(gate));
        const bool over = counter() <= 0 && turn_stage();
        float first;
        if (!since_3_14()) {
            perform(&first, 1);
            --counter();
            return first;
        }
        const int32_t left = over ? forever : counter();
        perform(&first, 1);
        prepare();
        counter() = left;
        if (over && !is_audio(op_, op_.inputs)) { // the first level follows what a segment of shape `held` begins with
            s_.stage[lane_] = ended;
            counter() = 1;
        }
        if (opened)
            turn_gate(1.f);
        return first;
    }

    /// The same where the first level is computed by a unit whose constructor doesn't know its value.
    float construct_later() {
        prepare();
        s_.stage[lane_] = not_ready;
        s_.gate[lane_] = was_open(in(gate)) ? 1.f : 0.f;
        return float(level());
    }

    /// Computes a block in which the segment doesn't end, if SuperCollider computes it in single precision; else
    /// returns false.
    bool perform_whole(float* out, int frames) {
        if (s_.kind[lane_] != exponential || counter() <= frames)
            return false;
        const F64<1> growth(s_.growth[lane_]);
        each_float_power(F32<1>(float(level())), convert<float>(growth), frames,
                         [&](int i, F32<1> y) { out[i * L] = y[0]; });
        level() *= whole_power(growth, unsigned(frames))[0];
        s_.y1[lane_] = -level();
        counter() -= frames;
        return true;
    }

    /// Computes `count` samples of the segment.
    void perform(float* out, int count) {
        double& level = this->level();
        double& y1 = s_.y1[lane_];
        double& y2 = s_.y2[lane_];
        const double growth = s_.growth[lane_], offset = s_.offset[lane_];
        const float first = float(level);
        // Each sample is the level before its step.
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
            y1 = each_power(F64<1>(y1), F64<1>(growth), count,
                            [&](int i, F64<1> y) { out[i * L] = float(offset - y[0]); })[0];
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
        default: put_held<L>(out, first, count);
        }
        if (count > 0)
            out[0] = first; // even if the growth is infinite
    }

private:
    SCS_INLINE bool since_3_14() const {
        return segments == Segments::right || block_.space->release >= Release::v3_14;
    }

    /// Before the first segment, with a gate that was closed.
    void prepare() {
        set_first_level();
        s_.stage[lane_] = not_started;
        s_.kind[lane_] = held;
        s_.gate[lane_] = 0.f;
        s_.released[lane_] = false;
        s_.release_node[lane_] = int_of(in(release_node));
        s_.rest[lane_] = 0.0;
    }
    void set_first_level() {
        s_.end[lane_] = level() = in(first_level)*in(level_scale) + in(level_bias);
        if (op_.inputs > nodes + node_shape && int_of(in(nodes + node_shape)) == held)
            level() = in(nodes + node_level);
    }
    /// Does what is left of construct_later().
    void take_first_level() {
        if (s_.stage[lane_] == not_ready) {
            set_first_level();
            s_.stage[lane_] = not_started;
        }
    }

    /// Stays at the segment's end.
    void stay() {
        counter() = forever;
        s_.kind[lane_] = staying;
        level() = s_.end[lane_];
    }
    /// After the last segment the level to which its last step has led is heard, then the end's. With an audio gate it
    /// is heard from then on.
    void stay_soon() {
        const bool at_once = is_audio(op_, gate) && is_audio(op_, op_.inputs);
        s_.kind[lane_] = staying;
        s_.stage[lane_] = at_once ? s_.stage[lane_] : ended;
        counter() = at_once ? forever : 1;
    }

    /// Does what is left of stay_soon().
    void settle() {
        if (s_.stage[lane_] == ended && counter() <= 0)
            stay();
    }

    SCS_INLINE float in(int index) const { return input(op_, block_, size_t(index))[lane_]; }
    SCS_INLINE bool releasable() const { return s_.release_node[lane_] >= 0 && !s_.released[lane_]; }

    SCS_INLINE int64_t node() const { return nodes + int64_t(node_inputs) * s_.stage[lane_]; }

    SCS_INLINE void begin_in_time() {
        const int64_t at = node();
        const float time = at >= 0 && at + node_inputs <= op_.inputs ? in(int(at) + node_time) : 0.f;
        begin(level(), double(time * in(time_scale)), false);
    }

    /// Begins a stage's segment from the level `from`. Forced: the output continues from where it is.
    void begin(double from, double seconds, bool forced) {
        const int64_t at = node();
        const double rate = is_audio(op_, op_.inputs) ? block_.audio->samples : block_.control->samples;
        double samples = seconds * rate;
        if (since_3_14())
            samples += s_.rest[lane_];
        const int32_t count = at_least_one(int_of(samples));
        counter() = count;
        double span = count; // what the segment's slope is computed from
        if (since_3_14()) {
            span = samples > 1.0 ? samples : 1.0;
            s_.rest[lane_] = samples - count;
        }
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
        case staying: from = end; break;
        case held: from = previous_end; break;
        case linear: growth = (end - from) / span; break;
        case exponential:
            growth = power(end / from, 1.0 / span);
            offset = 0.0;
            y1 = forced ? -level() : -from;
            break;
        case sine: {
            const double turn = pi / span;
            offset = (end + from) * 0.5;
            growth = 2.0 * cos(F64<1>(turn))[0];
            y1 = (end - from) * 0.5;
            y2 = y1 * sin(F64<1>(pi * 0.5 - turn))[0];
            from = offset - y1;
            break;
        }
        case welch: {
            const double turn = pi * 0.5 / span;
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
            growth = exponential_of(bend / span);
            break;
        case squared:
            y1 = root(from);
            growth = (root(end) - y1) / span;
            break;
        case cubed:
            y1 = power(from, 1.0 / 3.0);
            growth = (power(end, 1.0 / 3.0) - y1) / span;
            break;
        default: kind = staying;
        }
        s_.kind[lane_] = kind;
        if (!forced)
            level() = from;
    }

    /// Makes the envelope silent and frees the synth, whatever the unit's done action is.
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

} // namespace scs::SCS_SIMD::envelope

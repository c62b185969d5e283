// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/envelope.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

using namespace envelope;

template <Segments segments>
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    *output(op, block) = Envelope<1, segments>(op, block, 0).construct();
}
template <Segments segments>
void start_later(const Op& op, Block& block) SCS_NONBLOCKING {
    *output(op, block) = Envelope<1, segments>(op, block, 0).construct_later();
}

/// The lanes whose gate opens, closes or forces the release.
template <int N>
SCS_INLINE I32<N> crossings(F32<N> before, F32<N> now) {
    const F32<N> zero(0.f), minus_one(-1.f);
    return ((before <= zero) & (now > zero)) | ((before > zero) & (now <= zero)) |
           ((before > minus_one) & (now <= minus_one));
}

/// At control rate. Gates that change and segments that end are handled lane by lane; everything else is computed for
/// all lanes at once.
template <Segments segments>
struct AtControlRate {
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<EnvState<N>>(op, block);
            const auto now = Form::control(input(op, block, gate)), before = Form::get(s.gate);
            const auto events = (now != before) | (Form::get(s.counter) <= I32<N>(0));
            if (any(events)) {
                turn(op, block, bitmask(events) & block.live);
                Form::keep(s.gate, now);
            }
            const auto level = Form::get(s.level);
            Form::put(output(op, block), 0, convert<float>(level));
            const auto kind = Form::get(s.kind);
            if (any((kind > I32<N>(staying)) & (kind < I32<N>(held))))
                step(s, kind, level);
            const auto counter = Form::get(s.counter);
            Form::keep(s.counter, counter + (counter != I32<N>(forever))); // a mask is -1 in each lane
        }

        [[gnu::noinline]] static void turn(const Op& op, Block& block, uint32_t voices) {
            for (; voices; voices &= voices - 1) {
                const int lane = __builtin_ctz(voices);
                Envelope<N, segments> envelope(op, block, lane);
                envelope.turn_gate(input(op, block, gate)[lane]);
                if (envelope.counter() <= 0)
                    envelope.turn_stage();
            }
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
};

/// A block of a voice at audio rate, in pieces between the ends of segments and the changes of an audio gate.
template <int L, bool AudioGate>
void in_pieces(const Op& op, Block& block, int lane) {
    Envelope<L> envelope(op, block, lane);
    const float* open = input(op, block, gate) + lane;
    float* out = output(op, block) + lane;
    if constexpr (!AudioGate) {
        envelope.turn_gate(*open);
        if (envelope.perform_whole(out, block.frames))
            return;
    }
    for (int i = 0, n = block.frames; i < n;) {
        if (envelope.counter() <= 0)
            envelope.turn_stage();
        const int most = least(n - i, envelope.counter());
        const int count = AudioGate ? envelope.follow(open + i * L, most) : most;
        // Read before the output is written, as the two may share memory.
        const float next = AudioGate && count < most ? open[(i + count) * L] : 0.f;
        envelope.perform(out + i * L, count);
        if (AudioGate && count < most) {
            envelope.turn_gate(next);
            // A forced release is counted from the start of the piece, as in SuperCollider. SuperCollider also goes on
            // with some of the interrupted segment's numbers, which makes the level jump; we don't.
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
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) { in_pieces<L, AudioGate>(op, block, lane); });
        }
    };
};

/// Lanes that are in a linear, exponential or constant segment for the whole block are computed at once.
void held_gates(const Op& op, Block& block) SCS_NONBLOCKING {
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
        if (const auto whole = (kind == I32<N>(exponential)) & (counter > I32<N>(n)) & smooth; any(whole)) {
            // The same arithmetic as perform_whole().
            each_float_power(convert<float>(level), convert<float>(growth), n, [&](int i, F32<N> power) {
                Batch::put(out, i, select(whole, power, Batch::audio(out, i)));
            });
            const auto wide = widen_mask(whole);
            next = select(wide, level * whole_power(growth, unsigned(n)), next);
            Batch::keep(s.y1, select(wide, -next, Batch::get(s.y1)));
        }
        Batch::keep(s.level, next);
        Batch::keep(s.counter, select(smooth, counter - I32<N>(n), counter));
        Batch::keep(s.gate, select(smooth, now, before));
    }
    for (uint32_t left = block.live & ~together; left; left &= left - 1)
        in_pieces<N, false>(op, block, __builtin_ctz(left));
}

constexpr Kernel with_action(Kernel made) {
    made.acts_when_done = true;
    made.has_gate = true;
    return made;
}

template <Segments segments>
constexpr Kernel at_control_rate =
    with_action(vector_kernel<AtControlRate<segments>::template Run, EnvState, Scalar>(start<segments>));
constexpr Kernel with_audio_gate = with_action(lane_kernel<InPieces<true>::Run, EnvState>(start<Segments::of_release>));
// For audio inputs besides the gate, lane by lane in every case. An audio input may share its memory with the output,
// so no voice's output may be written before its turn.
constexpr Kernel with_audio_inputs =
    with_action(lane_kernel<InPieces<false>::Run, EnvState>(start<Segments::of_release>));
constexpr Kernel with_held_gate = [] {
    Kernel made = with_audio_inputs;
    made.batch = held_gates;
    return made;
}();

template <const Kernel& kernel, Segments segments>
constexpr Kernel starts_later = [] {
    Kernel made = kernel;
    made.start = start_later<segments>;
    return made;
}();
/// Where the first level comes from a unit that computes its first value in the first block, so does the envelope.
template <const Kernel& kernel, Segments segments = Segments::of_release>
const Kernel* ready(const Signature& s) {
    return s.inputs[first_level].late ? &starts_later<kernel, segments> : &kernel;
}

constexpr NativeUgen list[] = {
    {"EnvGen",
     [](const Signature& s) -> const Kernel* {
         if (s.inputs.size() < nodes)
             return nullptr;
         if (s.rate != Rate::audio)
             return s.right_durations ? ready<at_control_rate<Segments::right>, Segments::right>(s)
                                      : ready<at_control_rate<Segments::of_release>>(s);
         if (s.audio(gate))
             return ready<with_audio_gate>(s);
         for (size_t i = 0; i < s.inputs.size(); ++i)
             if (s.audio(i))
                 return ready<with_audio_inputs>(s);
         return ready<with_held_gate>(s);
     }},
};

} // namespace

SCS_FAMILY(env_gen)

} // namespace scs::SCS_SIMD

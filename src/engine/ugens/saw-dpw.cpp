// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// sc3-plugins' SawDPW: a sawtooth with little aliasing, the differences between samples of a parabolic wave.

enum { freq, initial_phase };

template <int N>
struct SawState {
    static constexpr size_t items64 = 1;
    double phase[N];
    float square[N];        ///< of the last sample's phase
    float freq[N], gain[N]; ///< the frequency that the gain is for: at audio rate in Hz, else the step of the phase
};

template <int N>
struct Saw {
    F64<N> phase;
    F32<N> square, freq, gain;

    /// A sample, after a step of the phase.
    SCS_INLINE F32<N> next(F64<N> step) {
        phase += step;
        phase = select(phase >= F64<N>(1.0), phase - F64<N>(2.0), phase);
        phase = select(phase < F64<N>(-1.0), phase + F64<N>(2.0), phase);
        const F32<N> before = square;
        square = convert<float>(phase * phase);
        return (square - before) * gain;
    }
    /// For another frequency in Hz.
    SCS_INLINE void follow(F32<N> hz, double rate) {
        const F64<N> over = F64<N>(1.0) - convert<double>(hz) / F64<N>(rate);
        const F64<N> wanted = F64<N>(rate) / (convert<double>(F32<N>(8.f) * hz) * over);
        gain = select(hz != freq, convert<float>(wanted), gain);
        freq = hz;
    }
    /// For another step of the phase.
    SCS_INLINE void set(F32<N> step, double rate) {
        const F64<N> over = F64<N>(1.0) - convert<double>(step) / F64<N>(rate);
        const F64<N> wanted = F64<N>(1.0) / (convert<double>(F32<N>(4.f) * step) * over);
        gain = select(step != freq, convert<float>(wanted), gain);
        freq = step;
    }
};

template <class Form>
struct SawDPW {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<SawState<N>>(op, block);
        Saw<N> saw{Form::get(s.phase), Form::get(s.square), Form::get(s.freq), Form::get(s.gain)};
        const UnitRate& own = own_rate(op, block);
        const F32<N> each(float(2.0 * own.duration));
        const float* wire = input(op, block, freq);
        float* out = output(op, block);
        const int n = own_frames(op, block);
        if (is_audio(op, freq)) {
            for (int i = 0; i < n; ++i) {
                const F32<N> hz = Form::audio(wire, i);
                if (any(hz != saw.freq))
                    saw.follow(hz, own.samples);
                Form::put(out, i, saw.next(convert<double>(hz * each)));
            }
        } else {
            const F32<N> step = Form::control(wire) * each;
            saw.set(step, own.samples);
            for (int i = 0; i < n; ++i)
                Form::put(out, i, saw.next(convert<double>(step)));
        }
        Form::keep(s.phase, saw.phase);
        Form::keep(s.square, saw.square);
        Form::keep(s.freq, saw.freq);
        Form::keep(s.gain, saw.gain);
    }
};

/// The first sample is always one of a frequency at audio rate, and is kept.
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<SawState<1>>(op, block);
    const UnitRate& own = own_rate(op, block);
    const F32<1> hz(*input(op, block, freq));
    Saw<1> saw{F64<1>(double(*input(op, block, initial_phase))), F32<1>(0.f), F32<1>(0.f), F32<1>(0.f)};
    saw.follow(hz, own.samples);
    *output(op, block) = saw.next(convert<double>(hz * F32<1>(float(2.0 * own.duration))))[0];
    s.phase[0] = saw.phase[0];
    s.square[0] = saw.square[0];
    s.freq[0] = saw.freq[0];
    s.gain[0] = saw.gain[0];
}

constexpr Kernel kernel = vector_kernel<SawDPW, SawState, Scalar>(start);

constexpr NativeUgen list[] = {
    {"SawDPW", [](const Signature& s) { return s.rate != Rate::scalar && s.inputs.size() == 2 ? &kernel : nullptr; },
     Gives::nothing, true},
};

} // namespace

SCS_FAMILY(saw_dpw)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Kinds of controls that compute something. (Control needs no kernel: its outputs are the controls' values themselves.)

constexpr int most_outputs = 16; // sclang makes no more

SCS_INLINE float* values(const Op& op, const Block& block, int lanes_of_form) {
    return reinterpret_cast<float*>(block.bases[size_t(Base::record)]) + op.special_index * lanes_of_form;
}

// ---- TrigControl: a value that is set lasts for one block (Kernel::forgets_controls); a mapped bus is followed

template <class Form>
struct TrigControl {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        float* from = values(op, block, N);
        for (int i = 0; i < op.outputs; ++i, from += N) {
            Form::put(output(op, block, size_t(i)), 0, Form::control(from));
            Form::put(from, 0, F32<N>(0.f));
        }
    }
};

void start_trig_control(const Op& op, Block& block) SCS_NONBLOCKING {
    for (int i = 0; i < op.outputs; ++i)
        *output(op, block, size_t(i)) = 0.f;
}

constexpr Kernel trig_control = [] {
    Kernel made = vector_kernel<TrigControl, Stateless, Scalar>(start_trig_control);
    made.reads_controls = made.forgets_controls = true;
    return made;
}();

// ---- LagControl: the inputs are times in seconds in which a difference falls by 60 dB

template <int Most>
struct LagControl {
    template <int N>
    struct State {
        static constexpr size_t items64 = 0;
        float level[Most][N], coefficient[Most][N];
    };
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<State<N>>(op, block);
            const float* from = values(op, block, N);
            for (int i = 0; i < op.outputs; ++i, from += N) {
                const auto to = Form::control(from);
                const auto x = to + Form::get(s.coefficient[i]) * (Form::get(s.level[i]) - to);
                const auto size = abs(x);
                const auto kept = select((size > F32<N>(1e-15f)) & (size < F32<N>(1e15f)), x, 0.f);
                Form::keep(s.level[i], kept);
                Form::put(output(op, block, size_t(i)), 0, kept);
            }
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<State<1>>(op, block);
        for (int i = 0; i < op.outputs; ++i) {
            s.level[i][0] = values(op, block, 1)[i];
            const double samples = double(*input(op, block, size_t(i))) * block.control->samples;
            constexpr double log_of_60_dB = -6.907755278982137; // ln 0.001
            s.coefficient[i][0] = samples == 0.0 ? 0.f : float(exp(F64<1>(log_of_60_dB / samples))[0]);
        }
        Run<Scalar>::run(op, block);
    }
    static constexpr Kernel kernel = [] {
        Kernel made = vector_kernel<Run, State, Scalar>(start);
        made.reads_controls = true;
        return made;
    }();
};

const Kernel* choose_lag_control(const Signature& s) {
    if (s.rate != Rate::control || s.inputs.size() != s.outputs || s.outputs > most_outputs)
        return nullptr;
    return s.outputs == 1   ? &LagControl<1>::kernel
           : s.outputs <= 4 ? &LagControl<4>::kernel
                            : &LagControl<most_outputs>::kernel;
}

// ---- AudioControl: a value, a control bus interpolated linearly, or an audio bus. Only for lone voices

struct AudioControlState {
    float previous[most_outputs]; ///< the control bus's value at the end of the last block
    int32_t followed;             ///< what the first control was mapped to in the last block
    /// Whether the audio bus had been written in its block before this voice read it. Until 3.13 all controls share a
    /// bit.
    int32_t heard;
};

void audio_control(const Op& op, Block& block, int frames) {
    auto& s = state<AudioControlState>(op, block);
    const Space& space = *block.space;
    const int32_t* mapped = block.mapped + op.special_index;
    if (s.followed != mapped[0])
        s.heard = 0;
    s.followed = mapped[0];
    for (int c = 0; c < op.outputs; ++c) {
        float* out = output(op, block, size_t(c));
        const float value = values(op, block, 1)[c];
        const int32_t bus = -mapped[c] - 1;
        if (mapped[c] == 0) {
            for (int i = 0; i < frames; ++i)
                out[i] = value;
        } else if (mapped[c] > 0) {
            const float from = s.previous[c], slope = (value - from) / float(block.frames);
            for (int i = 0; i < frames; ++i)
                out[i] = from + slope * float(i);
            s.previous[c] = from + slope * float(frames);
        } else {
            // What was written in the previous block counts only if this voice hasn't already heard it there.
            const int32_t age = space.block_number - space.audio_touched[bus];
            const float* wire = space.audio_bus + int64_t(bus) * space.block_size;
            const int32_t bit = space.release >= Release::v3_14 ? 1 << c : 1;
            const bool sounds = age == 0 || (age == 1 && !(s.heard & bit));
            for (int i = 0; i < frames; ++i)
                out[i] = sounds ? wire[i] : 0.f;
            if (age == 0 || !sounds)
                s.heard = age == 0 ? s.heard | bit : s.heard & ~bit;
        }
    }
}

void run_audio_control(const Op& op, Block& block) SCS_NONBLOCKING {
    audio_control(op, block, block.frames);
}
void start_audio_control(const Op& op, Block& block) SCS_NONBLOCKING {
    audio_control(op, block, 1);
}

constexpr Kernel audio_control_kernel = [] {
    Kernel made;
    made.start = start_audio_control;
    made.lone = run_audio_control;
    made.reads_controls = true;
    made.state32 = sizeof(AudioControlState) / 4;
    return made;
}();

constexpr NativeUgen list[] = {
    {"AudioControl",
     [](const Signature& s) -> const Kernel* {
         return s.rate == Rate::audio && s.outputs <= most_outputs && !s.own_rate ? &audio_control_kernel : nullptr;
     }},
    {"LagControl", choose_lag_control},
    {"TrigControl", [](const Signature& s) { return s.rate == Rate::control ? &trig_control : nullptr; }},
};

} // namespace

SCS_FAMILY(controls)

} // namespace scs::SCS_SIMD

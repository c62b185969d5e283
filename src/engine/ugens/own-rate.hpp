// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For kernels that serve audio and control units. A control unit's block is one frame long. Its lone form is Scalar,
// because Timewise forms always write a whole vector.

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Whether the unit, all of whose outputs have its rate, is an audio unit.
SCS_INLINE bool at_audio_rate(const Op& op) {
    return is_audio(op, op.inputs);
}
SCS_INLINE const UnitRate& own_rate(const Op& op, const Block& block) {
    return at_audio_rate(op) ? *block.audio : *block.control;
}
/// 1 for control units, and in run_first_frame().
SCS_INLINE int own_frames(const Op& op, const Block& block) {
    return at_audio_rate(op) ? block.frames : 1;
}
template <class Form>
SCS_INLINE int own_steps(const Op& op, const Block& block) {
    return own_frames(op, block) == 1 ? 1 : Form::steps(block);
}

/// Runs a lone kernel, frame by frame, for one frame: what most constructors do.
SCS_INLINE void run_first_frame(KernelFunction run, const Op& op, Block& block) {
    Block first = block;
    first.frames = 1;
    run(op, first);
}

/// The kernel for audio units, whose lone voices are computed as Lone says, and for control units.
template <template <class> class K, template <int> class State, class Lone>
struct AtBothRates {
    Kernel audio, control;
    constexpr explicit AtBothRates(KernelFunction start)
        : audio(vector_kernel<K, State, Lone>(start)), control(vector_kernel<K, State, Scalar>(start)) {}
    constexpr const Kernel* of(const Signature& s) const { return s.rate == Rate::audio ? &audio : &control; }
    /// Adds the audio units' forms with a gain.
    template <template <class> class Scaled>
    constexpr AtBothRates scalable() const {
        AtBothRates made = *this;
        made.audio = SCS_SIMD::scalable<Scaled, Lone>(audio);
        return made;
    }
};

} // namespace scs::SCS_SIMD

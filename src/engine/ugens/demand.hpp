// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Units at demand rate. They have no blocks: another unit asks them for a value when it needs one (pulls), or has them
// begin anew. Where they lie in the program says an operand, see DemandSource. NaN says that there are no more values.

#include "engine/simd/math.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// How many values may be asked for in a block, by one unit for one voice: for each frame of an audio block, and in
/// all. Those beyond are NaN: units may ask each other so that one value takes as many as 2^n of them.
constexpr int32_t most_pulls_a_frame = 32, most_pulls = 8192;

SCS_INLINE bool is_no_number(float x) {
    return x != x;
}
constexpr float no_more = __builtin_nanf("");

} // namespace scs::SCS_SIMD

namespace scs {

/// What is asked for. In the namespace of all sets, as kernel.hpp declares it.
struct Pull {
    Block& block;
    int lane;
    int frame;    ///< of the block, from 1 on; 0: the unit is to begin anew
    int32_t left; ///< how many more units may be asked
};

} // namespace scs

namespace scs::SCS_SIMD {

/// A Pull for a unit that has blocks. `frame`: of the block, from 0 on.
SCS_INLINE Pull pull_for(Block& block, int lane, int frame) {
    const int32_t pulls = most_pulls_a_frame * block.space->block_size;
    return {block, lane, frame + 1, pulls < most_pulls ? pulls : most_pulls};
}

/// The inputs of a unit that is asked for a value, or asks others for theirs.
template <int L>
class Asking {
public:
    SCS_INLINE Asking(const Op& op, Pull& pull) : op_(op), pull_(pull) {}

    SCS_INLINE size_t inputs() const { return op_.inputs; }
    SCS_INLINE bool is_demand(size_t index) const { return op_.operands[index].rate == Rate::demand; }
    /// Whether there may be more pulls. A loop that others keep going ends with them.
    SCS_INLINE bool goes_on() const { return pull_.left > 0; }
    /// Counts what looks at each of `inputs` as pulls: it takes as long as one for some of them.
    SCS_INLINE void spend(size_t inputs) const { pull_.left -= int32_t(inputs / 8); }
    /// The next value of an input, or what it is at this frame.
    SCS_INLINE float next(size_t index) const {
        if (is_demand(index))
            return ask(index);
        const float* wire = input(op_, pull_.block, index) + pull_.lane;
        return is_audio(op_, index) ? wire[(pull_.frame - 1) * L] : *wire;
    }
    /// The same, with a constant or a control.
    SCS_INLINE float held(size_t index) const { return input(op_, pull_.block, index)[pull_.lane]; }
    /// A number of repeats.
    SCS_INLINE double repeats(size_t index) const {
        const float x = next(index);
        return is_no_number(x) ? 0. : double(floor(F32<1>(x + 0.5f))[0]);
    }
    /// Has an input begin anew.
    SCS_INLINE void restart(size_t index) const {
        if (!is_demand(index))
            return;
        const int frame = pull_.frame;
        pull_.frame = 0;
        ask(index);
        pull_.frame = frame;
    }
    SCS_INLINE const Block& block() const { return pull_.block; }
    SCS_INLINE Pull& pull() const { return pull_; }

private:
    SCS_INLINE float ask(size_t index) const {
        if (pull_.left <= 0)
            return no_more;
        --pull_.left;
        const auto& source = *reinterpret_cast<const DemandSource*>(op_.operands[index].offset);
        return source.pull(source.op, pull_);
    }

    const Op& op_;
    Pull& pull_;
};

/// Whether this input is at demand rate.
SCS_INLINE bool is_demand(const Signature& s, size_t index) {
    return s.inputs[index].rate == Rate::demand;
}

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/ugens/random-state.hpp"

#include <array>
#include <cstdint>

namespace scs {

/// Takes a generator many draws ahead at once: a draw is linear in the bits of the state, so any number of draws is a
/// matrix over GF(2), and twice as many are its square. [any], after construction.
class RandomJump {
public:
    RandomJump(); // [worker]
    /// The state after that many draws, in some ten to a hundred ns.
    RandomState operator()(RandomState, uint32_t draws) const noexcept SCS_NONBLOCKING;

private:
    /// What becomes of each bit of the parts, whose bits don't mix.
    using Matrix = std::array<RandomState, 32>;
    static RandomState apply(const Matrix&, RandomState) noexcept;
    std::array<Matrix, 32> powers_; ///< of 1, 2, 4 … draws
};

} // namespace scs

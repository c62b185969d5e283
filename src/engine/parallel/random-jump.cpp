// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/random-jump.hpp"

#include <cstddef>

namespace scs {

RandomJump::RandomJump() {
    for (uint32_t bit = 0; bit < 32; ++bit)
        powers_[0][bit] = RandomState{1u << bit, 1u << bit, 1u << bit}.next();
    for (size_t i = 1; i < powers_.size(); ++i)
        for (uint32_t bit = 0; bit < 32; ++bit)
            powers_[i][bit] = apply(powers_[i - 1], powers_[i - 1][bit]);
}

RandomState RandomJump::apply(const Matrix& matrix, RandomState s) noexcept {
    RandomState result{};
    for (uint32_t bit = 0; bit < 32; ++bit) {
        const RandomState& to = matrix[bit];
        result.s1 ^= to.s1 & -(s.s1 >> bit & 1u);
        result.s2 ^= to.s2 & -(s.s2 >> bit & 1u);
        result.s3 ^= to.s3 & -(s.s3 >> bit & 1u);
    }
    return result;
}

RandomState RandomJump::operator()(RandomState s, uint32_t draws) const noexcept {
    for (size_t i = 0; draws; ++i, draws >>= 1)
        if (draws & 1u)
            s = apply(powers_[i], s);
    return s;
}

} // namespace scs

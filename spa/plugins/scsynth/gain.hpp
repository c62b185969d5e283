// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cfloat>
#include <cstdint>

namespace scs::spa {

/// What an output's samples, which are finite, are multiplied by. A new value is reached in a straight line, so that
/// nothing clicks. At 1 no sample is touched.
class Gain {
public:
    static constexpr double ramp_seconds = 0.01;

    /// [main] Before the first cycle: the loudest sample that may come out.
    void limit_to(float loudest) noexcept { loudest_ = loudest; }
    /// [any] Finite, and at least 0.
    void set(float gain) noexcept { wanted_.store(gain, std::memory_order_relaxed); }
    /// [main] Before the first cycle: sets it without a ramp.
    void start_at(float gain) noexcept;
    /// [rt] Multiplies the next `frames` samples; null, for a port that is not linked: there is nothing to ramp.
    void apply(float* samples, uint32_t frames, double rate) noexcept;

private:
    void jump_to(float gain) noexcept;

    float loudest_ = FLT_MAX;
    std::atomic<float> wanted_{1};
    float target_ = 1, now_ = 1, step_ = 0; ///< of the ramp
    uint32_t left_ = 0;                     ///< frames of it
};

} // namespace scs::spa

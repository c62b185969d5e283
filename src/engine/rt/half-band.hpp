// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <array>
#include <cstddef>

namespace scs {

// Changes of a sample rate by powers of two, one half-band filter after the other. The filters are linear in phase:
// symmetric, windowed by Kaiser's window, with every other tap zero. From 0 to 0.208 of the higher rate of the first
// stage, which is 20 kHz where the lower rate is 48 kHz, the gain is 1 within 0.0003 dB; from 0.292 on, which are the
// frequencies that would be heard below 20 kHz, it is below -100 dB. In between it falls, and is -6 dB at half of the
// lower rate. The further stages are shorter, as far less of their spectrum is in use.

/// The most stages: a factor of 16.
inline constexpr int most_stages = 4;

/// [any] Frames of the lower rate by which either direction delays.
constexpr int half_band_delay(int factor) noexcept {
    return factor == 1 ? 0 : factor == 2 ? 20 : factor == 4 ? 24 : factor == 8 ? 26 : 27;
}

/// One doubling or halving.
class HalfBandStage {
public:
    /// [any] Floats of memory for stage 0 (the one at the lowest rate) …; `samples`: the most that it is given or asked
    /// for at once, at its lower rate.
    static size_t floats(int stage, int samples) noexcept;
    /// [rt] `memory`: zeroed. Keeps it.
    void begin(int stage, int samples, float* memory) noexcept SCS_NONBLOCKING;
    /// [rt] Takes one sample of the higher rate, or an even number, and returns how many of the lower rate it has put
    /// to `to`, which may be `from`.
    int lower(const float* from, int count, float* to) noexcept SCS_NONBLOCKING;
    /// [rt] The same of samples that come after an odd number of older ones, which is less than their own even number.
    /// As many are left over, and take the place of those.
    int lower_after(float* late, int delay, const float* from, int count, float* to) noexcept SCS_NONBLOCKING;
    /// [rt] Takes samples of the lower rate and puts twice as many to `to`, which may be `from`.
    void raise(const float* from, int count, float* to) noexcept SCS_NONBLOCKING;

private:
    void make_room(int samples) noexcept SCS_NONBLOCKING;

    size_t stage_ = 0;
    const float* taps_ = nullptr;
    int pairs_ = 0, kept_ = 0, room_ = 0;
    int at_ = 0;             ///< where the next samples come to in both lines; `kept_` older ones are there
    bool odd_ = false;       ///< the next sample is an odd one
    float* even_ = nullptr;  ///< raise(): all samples
    float* other_ = nullptr; ///< the odd ones
};

/// All stages of one signal, in one direction, and a few samples of delay that make the whole delay
/// half_band_delay(factor).
class HalfBand {
public:
    static constexpr int most_delay = 9; ///< samples
    /// [any] Bytes of memory; `samples`: of the higher rate, the most that it is given or asked for at once.
    static size_t bytes(int factor, int samples) noexcept SCS_NONBLOCKING;
    /// [rt] `memory`: of that size, aligned to 4 bytes; null for a factor of 1. Keeps it.
    void begin(int factor, int samples, void* memory) noexcept SCS_NONBLOCKING;
    /// [rt] Takes samples of the higher rate, a power of two; returns how many of the lower rate it has put to `to`:
    /// one for each `factor` samples, with the first of these. There must be room for as many as it takes; `to` may be
    /// `from`.
    int lower(const float* from, int count, float* to) noexcept SCS_NONBLOCKING;
    /// [rt] Takes samples of the lower rate, in place, where there must be room for `factor` times as many.
    void raise(float* samples, int count) noexcept SCS_NONBLOCKING;

private:
    void delay(float* samples, int count) noexcept SCS_NONBLOCKING;

    int stages_ = 0, delay_ = 0;
    std::array<HalfBandStage, most_stages> stage_;
    std::array<float, most_delay> late_{}; ///< the oldest first
};

} // namespace scs

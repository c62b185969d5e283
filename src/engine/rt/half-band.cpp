// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/half-band.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace scs {
namespace {

/// Pairs of taps beside the one in the middle.
constexpr std::array<int, most_stages> pairs_of_stage{20, 9, 8, 7};
/// Samples of the highest rate that make up a whole frame of the lowest one, by the number of stages.
constexpr std::array<int, most_stages + 1> missing_delay{0, 1, 1, 3, 9};

double bessel_i0(double x) noexcept {
    double sum = 1, term = 1;
    for (int i = 1; term > 1e-17 * sum; ++i)
        sum += term *= x / (2 * i) * (x / (2 * i));
    return sum;
}

/// The taps at odd distances from the middle, the farthest first, so that they add up to 1/4 on each side.
struct Taps {
    /// `attenuation`: dB, as Kaiser's formula has it.
    explicit Taps(int pairs, double attenuation = 104) noexcept {
        const double shape = 0.1102 * (attenuation - 8.7);
        constexpr double pi = 3.14159265358979323846;
        std::array<double, 20> exact{};
        double sum = 0;
        for (int i = 0; i < pairs; ++i) {
            const int distance = 2 * (pairs - i) - 1;
            const double place = distance / (2. * pairs);
            exact[size_t(i)] = std::sin(pi / 2 * distance) / (pi * distance) *
                               bessel_i0(shape * std::sqrt(1 - place * place)) / bessel_i0(shape);
            sum += exact[size_t(i)];
        }
        for (int i = 0; i < pairs; ++i)
            values[size_t(i)] = float(exact[size_t(i)] * 0.25 / sum);
    }
    std::array<float, 20> values{};
};

// Computed as the library is loaded, so that the data loop finds them.
const std::array<Taps, most_stages> taps{Taps(pairs_of_stage[0]), Taps(pairs_of_stage[1]), Taps(pairs_of_stage[2]),
                                         Taps(pairs_of_stage[3], 116)};

int stages_of(int factor) noexcept {
    return std::countr_zero(unsigned(factor));
}
int kept_of(int stage) noexcept {
    return 2 * pairs_of_stage[size_t(stage)] - 1;
}
int room_of(int stage, int samples) noexcept {
    constexpr int least = 64; // so that what is kept needn't be moved often
    return kept_of(stage) + std::max(samples, least) + 8;
}
/// What stage `stage` of a cascade takes at once, at its lower rate.
int samples_of(int stage, int factor, int samples) noexcept {
    return std::max(1, samples * (1 << stage) / factor) + 1;
}

// ---- sums of four outputs at once, or sixteen, or one

using Four [[gnu::vector_size(4 * sizeof(float))]] = float;

template <class Samples>
Samples load(const float* from) noexcept {
    Samples samples;
    std::memcpy(&samples, from, sizeof samples);
    return samples;
}
template <class Samples>
void store(float* to, Samples samples) noexcept {
    std::memcpy(to, &samples, sizeof samples);
}

/// `Sums` sums of `Samples` at once, so that none has to wait for the one before.
template <class Samples, size_t Sums = 1>
std::array<Samples, Sums> sides(const float* taps, int pairs, const float* at) noexcept {
    constexpr int width = sizeof(Samples) / sizeof(float);
    std::array<Samples, Sums> sums{};
    for (int k = 0; k < pairs; ++k)
        for (int s = 0; s < int(Sums); ++s) {
            const float* const from = at + s * width;
            sums[size_t(s)] += taps[k] * (load<Samples>(from - k) + load<Samples>(from - (2 * pairs - 1 - k)));
        }
    return sums;
}

/// Calls put(output, sum) for each output, or several, with the sum of all taps but the one in the middle.
template <class Put>
void each_output(const float* taps, int pairs, const float* newest, int count, Put&& put) noexcept {
    constexpr int sums = 4;
    int i = 0;
    for (; i + 4 * sums <= count; i += 4 * sums) {
        const auto all = sides<Four, sums>(taps, pairs, newest + i);
        for (int s = 0; s < sums; ++s)
            put(i + 4 * s, all[size_t(s)]);
    }
    for (; i + 4 <= count; i += 4)
        put(i, sides<Four>(taps, pairs, newest + i)[0]);
    for (; i < count; ++i)
        put(i, sides<float>(taps, pairs, newest + i)[0]);
}

} // namespace

size_t HalfBandStage::floats(int stage, int samples) noexcept {
    return 2 * size_t(room_of(stage, samples));
}

void HalfBandStage::begin(int stage, int samples, float* memory) noexcept {
    taps_ = taps[size_t(stage)].values.data();
    pairs_ = pairs_of_stage[size_t(stage)];
    at_ = kept_ = kept_of(stage);
    room_ = room_of(stage, samples);
    even_ = memory;
    other_ = memory + room_;
}

/// Moves what is kept to the beginning, if there isn't room for that many more.
void HalfBandStage::make_room(int samples) noexcept {
    if (at_ + samples <= room_)
        return;
    std::memmove(even_, even_ + at_ - kept_, size_t(kept_) * sizeof(float));
    std::memmove(other_, other_ + at_ - kept_, size_t(kept_) * sizeof(float));
    at_ = kept_;
}

int HalfBandStage::lower(const float* from, int count, float* to) noexcept {
    const int outputs = std::max(count / 2, 1);
    make_room(outputs);
    if (odd_) {
        other_[at_++] = *from;
        odd_ = false;
        return 0;
    }
    // An output comes with each even sample, before the odd one that follows it.
    odd_ = count == 1;
    for (int i = 0; i < outputs; ++i)
        even_[at_ + i] = from[2 * i];
    for (int i = 0; i < count / 2; ++i)
        other_[at_ + i] = from[2 * i + 1];
    each_output(taps_, pairs_, even_ + at_, outputs, [&](int i, auto side) {
        using Samples = decltype(side);
        store(to + i, load<Samples>(other_ + at_ - pairs_ + i) * 0.5f + side);
    });
    at_ += count / 2;
    return outputs;
}

void HalfBandStage::raise(const float* from, int count, float* to) noexcept {
    make_room(count);
    std::memcpy(even_ + at_, from, size_t(count) * sizeof(float));
    each_output(taps_, pairs_, even_ + at_, count, [&](int i, auto side) { store(other_ + i, side + side); });
    for (int i = 0; i < count; ++i) {
        to[2 * i] = other_[i];
        to[2 * i + 1] = even_[at_ + i - (pairs_ - 1)];
    }
    at_ += count;
}

size_t HalfBand::bytes(int factor, int samples) noexcept {
    size_t floats = 0;
    for (int stage = 0; stage < stages_of(factor); ++stage)
        floats += HalfBandStage::floats(stage, samples_of(stage, factor, samples));
    return floats * sizeof(float);
}

void HalfBand::begin(int factor, int samples, void* memory) noexcept {
    stages_ = stages_of(factor);
    delay_ = missing_delay[size_t(stages_)];
    if (stages_ == 0)
        return; // a factor of 1 needs no memory, so there may be none
    std::memset(memory, 0, bytes(factor, samples));
    auto* floats = static_cast<float*>(memory);
    for (int stage = 0; stage < stages_; ++stage) {
        const int its = samples_of(stage, factor, samples);
        stage_[size_t(stage)].begin(stage, its, floats);
        floats += HalfBandStage::floats(stage, its);
    }
}

int HalfBand::lower(float* samples, int count) noexcept {
    delay(samples, count);
    for (int stage = stages_ - 1; stage >= 0 && count > 0; --stage)
        count = stage_[size_t(stage)].lower(samples, count, samples);
    return count;
}

void HalfBand::raise(float* samples, int count) noexcept {
    if (count == 0)
        return;
    for (int stage = 0; stage < stages_; ++stage, count *= 2)
        stage_[size_t(stage)].raise(samples, count, samples);
    delay(samples, count);
}

void HalfBand::delay(float* samples, int count) noexcept {
    const auto first = late_.begin(), last = first + delay_;
    if (count < delay_) {
        for (int i = 0; i < count; ++i) {
            std::swap(*first, samples[i]);
            std::rotate(first, first + 1, last);
        }
        return;
    }
    std::array<float, most_delay> newest;
    std::copy(samples + count - delay_, samples + count, newest.begin());
    std::memmove(samples + delay_, samples, size_t(count - delay_) * sizeof(float));
    std::copy(first, last, samples);
    late_ = newest;
}

} // namespace scs

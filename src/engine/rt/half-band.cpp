// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/half-band.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

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

// ---- sums of several outputs at once, or one. Each is the same sum in the same order, so it has the same bits however
// many are computed at once. Always inlined, as they are compiled for several instruction sets

using Four [[gnu::vector_size(4 * sizeof(float))]] = float;
using Eight [[gnu::vector_size(8 * sizeof(float))]] = float;

#define SCS_ALWAYS [[gnu::always_inline]] inline
#define SCS_ALWAYS_LAMBDA __attribute__((always_inline))

// By reference, as the calling convention for vectors depends on the instruction set.
template <class Samples>
SCS_ALWAYS void load(Samples& samples, const float* from) noexcept {
    __builtin_memcpy(&samples, from, sizeof samples);
}
template <class Samples>
SCS_ALWAYS void store(float* to, const Samples& samples) noexcept {
    __builtin_memcpy(to, &samples, sizeof samples);
}

/// Calls put(output, sum) for `Sums` times as many outputs as Samples has numbers, so that no sum has to wait for the
/// one before: with the sum of all taps but the one in the middle.
template <class Samples, int Sums, int Pairs, class Put>
SCS_ALWAYS void put_outputs(const float* taps, const float* newest, int output, Put&& put) noexcept {
    constexpr int width = sizeof(Samples) / sizeof(float);
    Samples sums[Sums] = {};
#pragma GCC unroll 20
    for (int k = 0; k < Pairs; ++k)
#pragma GCC unroll 4
        for (int s = 0; s < Sums; ++s) {
            const float* const from = newest + output + s * width;
            Samples late, early;
            load(late, from - k);
            load(early, from - (2 * Pairs - 1 - k));
            sums[s] += taps[k] * (late + early);
        }
#pragma GCC unroll 4
    for (int s = 0; s < Sums; ++s)
        put(output + s * width, sums[s]);
}

/// The same for all outputs.
template <class Wide, int Pairs, class Put>
SCS_ALWAYS void each_output(const float* taps, const float* newest, int count, Put&& put) noexcept {
    constexpr int width = sizeof(Wide) / sizeof(float), sums = 4;
    int i = 0;
    for (; i + sums * width <= count; i += sums * width)
        put_outputs<Wide, sums, Pairs>(taps, newest, i, put);
    for (; i + width <= count; i += width)
        put_outputs<Wide, 1, Pairs>(taps, newest, i, put);
    for (; i + 4 <= count; i += 4)
        put_outputs<Four, 1, Pairs>(taps, newest, i, put);
    for (; i < count; ++i)
        put_outputs<float, 1, Pairs>(taps, newest, i, put);
}

/// The lower rate's samples, from both lines at where the newest begin.
template <class Wide, int Pairs>
SCS_ALWAYS void lowered(const float* taps, const float* even, const float* odd, int count, float* to) noexcept {
    each_output<Wide, Pairs>(taps, even, count, [=](int i, const auto& side) SCS_ALWAYS_LAMBDA {
        std::remove_cvref_t<decltype(side)> middle;
        load(middle, odd - Pairs + i);
        store(to + i, middle * 0.5f + side);
    });
}

/// The higher rate's samples between those that there are.
template <class Wide, int Pairs>
SCS_ALWAYS void raised(const float* taps, const float* newest, int count, float* to) noexcept {
    each_output<Wide, Pairs>(taps, newest, count,
                             [=](int i, const auto& side) SCS_ALWAYS_LAMBDA { store(to + i, side + side); });
}

/// Of a stage.
struct Loops {
    void (*lower)(const float* taps, const float* even, const float* odd, int count,
                  float* to) noexcept SCS_NONBLOCKING;
    void (*raise)(const float* taps, const float* newest, int count, float* to) noexcept SCS_NONBLOCKING;
};
using LoopsOfStages = std::array<Loops, most_stages>;

template <int Pairs>
void lower_by_four(const float* taps, const float* even, const float* odd, int count,
                   float* to) noexcept SCS_NONBLOCKING {
    lowered<Four, Pairs>(taps, even, odd, count, to);
}
template <int Pairs>
void raise_by_four(const float* taps, const float* newest, int count, float* to) noexcept SCS_NONBLOCKING {
    raised<Four, Pairs>(taps, newest, count, to);
}
template <size_t... Stage>
constexpr LoopsOfStages by_four(std::index_sequence<Stage...>) noexcept {
    return {Loops{lower_by_four<pairs_of_stage[Stage]>, raise_by_four<pairs_of_stage[Stage]>}...};
}
#if defined(__x86_64__)
template <int Pairs>
[[gnu::target("avx2")]] void lower_by_eight(const float* taps, const float* even, const float* odd, int count,
                                            float* to) noexcept SCS_NONBLOCKING {
    lowered<Eight, Pairs>(taps, even, odd, count, to);
}
template <int Pairs>
[[gnu::target("avx2")]] void raise_by_eight(const float* taps, const float* newest, int count,
                                            float* to) noexcept SCS_NONBLOCKING {
    raised<Eight, Pairs>(taps, newest, count, to);
}
template <size_t... Stage>
constexpr LoopsOfStages by_eight(std::index_sequence<Stage...>) noexcept {
    return {Loops{lower_by_eight<pairs_of_stage[Stage]>, raise_by_eight<pairs_of_stage[Stage]>}...};
}
const LoopsOfStages loops = __builtin_cpu_supports("avx2") ? by_eight(std::make_index_sequence<most_stages>())
                                                           : by_four(std::make_index_sequence<most_stages>());
#else
constexpr LoopsOfStages loops = by_four(std::make_index_sequence<most_stages>());
#endif

/// Splits `2 * count` samples.
void split(const float* from, int count, float* even, float* odd) noexcept {
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        Four first, second;
        load(first, from + 2 * i);
        load(second, from + 2 * i + 4);
        store(even + i, __builtin_shufflevector(first, second, 0, 2, 4, 6));
        store(odd + i, __builtin_shufflevector(first, second, 1, 3, 5, 7));
    }
    for (; i < count; ++i) {
        even[i] = from[2 * i];
        odd[i] = from[2 * i + 1];
    }
}
/// Joins `count` samples of each.
void join(const float* even, const float* odd, int count, float* to) noexcept {
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        Four first, second;
        load(first, even + i);
        load(second, odd + i);
        store(to + 2 * i, __builtin_shufflevector(first, second, 0, 4, 1, 5));
        store(to + 2 * i + 4, __builtin_shufflevector(first, second, 2, 6, 3, 7));
    }
    for (; i < count; ++i) {
        to[2 * i] = even[i];
        to[2 * i + 1] = odd[i];
    }
}

#undef SCS_ALWAYS
#undef SCS_ALWAYS_LAMBDA

} // namespace

size_t HalfBandStage::floats(int stage, int samples) noexcept {
    return 2 * size_t(room_of(stage, samples));
}

void HalfBandStage::begin(int stage, int samples, float* memory) noexcept {
    stage_ = size_t(stage);
    taps_ = taps[stage_].values.data();
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
    if (odd_)
        even_[at_] = *from;
    else
        split(from, outputs, even_ + at_, other_ + at_);
    loops[stage_].lower(taps_, even_ + at_, other_ + at_, outputs, to);
    at_ += count / 2;
    return outputs;
}

int HalfBandStage::lower_after(float* late, int delay, const float* from, int count, float* to) noexcept {
    const int outputs = count / 2, first = (delay + 1) / 2;
    make_room(outputs);
    std::array<float, HalfBand::most_delay + 1> begin;
    std::copy_n(late, delay, begin.data());
    begin[size_t(delay)] = *from;
    split(begin.data(), first, even_ + at_, other_ + at_);
    split(from + 1, outputs - first, even_ + at_ + first, other_ + at_ + first);
    std::copy_n(from + count - delay, delay, late);
    loops[stage_].lower(taps_, even_ + at_, other_ + at_, outputs, to);
    at_ += outputs;
    return outputs;
}

void HalfBandStage::raise(const float* from, int count, float* to) noexcept {
    make_room(count);
    std::memcpy(even_ + at_, from, size_t(count) * sizeof(float));
    loops[stage_].raise(taps_, even_ + at_, count, other_);
    join(other_, even_ + at_ - (pairs_ - 1), count, to);
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

int HalfBand::lower(const float* from, int count, float* to) noexcept {
    int stage = stages_ - 1;
    if (stage >= 0 && count > delay_) {
        count = stage_[size_t(stage--)].lower_after(late_.data(), delay_, from, count, to);
    } else {
        if (from != to)
            std::copy_n(from, count, to);
        delay(to, count);
    }
    for (; stage >= 0 && count > 0; --stage)
        count = stage_[size_t(stage)].lower(to, count, to);
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

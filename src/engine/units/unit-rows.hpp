// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/units/unit-facts.hpp"

// What rows of units are written with, for the files that have them.

namespace scs {

constexpr uint8_t any_rate = 0x0f;
constexpr uint8_t audio = rate_bit(Rate::audio), control = rate_bit(Rate::control);
// A unit that isn't made for demand rate would write a whole block into a single sample there.
constexpr uint8_t not_demand = any_rate & uint8_t(~rate_bit(Rate::demand));

using enum InputLimit::Kind;

// Units would turn a bus number below 0 into a wild address. It becomes 0, the bus that scsynth uses in its place at
// first.
constexpr float no_bus = 16777216.f;
// The product of both limits just doesn't overflow.
constexpr float most_channels = 256.f, most_frames = 4194304.f;
constexpr float most_stages = 65536.f;
// Delay lines' lengths are rounded up to a power of two in 32 bits. At 1 MHz, lines of most_seconds have 2^30 samples,
// and so do three lines of most_seconds_of_three together.
constexpr float most_seconds = 1000.f, most_seconds_of_three = 300.f;
// Anything shorter is one frame as well, but 0 would make a line that never ends.
constexpr float least_seconds = 1e-7f;
// The size in bytes of twice this many points just doesn't overflow. The FFT itself refuses more than 2^18.
constexpr float most_points = 134217728.f;
// Twice the period of the lowest frequency at 1 MHz just doesn't overflow.
constexpr float least_frequency = 0.001f, most_frequency = 1e9f;
// Fits into 32 bits. A counter that begins below zero never ends.
constexpr float most_counter = 2.1e9f;
constexpr float most_samples = 1e9f, most_metres = 1e5f, most_counted = 65536.f;

constexpr BufferNeed wrapped{BufferNeed::wrapped, 0};
constexpr BufferNeed program{BufferNeed::samples, 0, 256};
constexpr BufferNeed magnitudes{BufferNeed::bins, 1, 0, BufferNeed::anything, false, false};
constexpr BufferNeed network{BufferNeed::samples, 0, 1, BufferNeed::size, true};

/// A buffer whose address the constructor keeps, without looking for one of the synth's own.
constexpr BufferNeed kept(uint8_t input, uint16_t samples) {
    return {BufferNeed::samples, input, samples, BufferNeed::memory, true, false};
}

// Found by giving each input of each unit another number in each sample, and comparing.
constexpr uint64_t every_input = ~uint64_t(0);

constexpr auto nothing = UnitEffects::nothing;
constexpr auto draws = UnitEffects::draws;
constexpr auto reads = UnitEffects::reads_buffers;
constexpr auto writes = UnitEffects::writes_buffers;
constexpr auto chain = UnitEffects::changes_chain;
constexpr auto second = UnitEffects::changes_second_chain;
constexpr auto sends = UnitEffects::sends;
constexpr auto allocates = UnitEffects::allocates;
constexpr auto alone = UnitEffects::alone;

constexpr UnitFacts unit(std::string_view name, uint16_t min_inputs, uint16_t min_outputs, uint8_t rates = not_demand,
                         uint16_t max_outputs = UINT16_MAX) {
    UnitFacts facts;
    facts.name = name;
    facts.min_inputs = min_inputs;
    facts.min_outputs = min_outputs;
    facts.max_outputs = max_outputs;
    facts.rates = rates;
    return facts;
}

constexpr UnitFacts refused(std::string_view name) {
    UnitFacts facts;
    facts.name = name;
    facts.refused = true;
    return facts;
}

} // namespace scs

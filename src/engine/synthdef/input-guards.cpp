// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/input-guards.hpp"

#include <optional>
#include <string_view>

namespace scs {
namespace {

enum Kind : unsigned {
    always = 0,
    audio_only = 1, ///< at control rate the unit looks itself
    at_start = 2,   ///< only the constructor reads the input
    below_input = 4, ///< `high` is the number of the input that has the limit; its own rule comes before
    in_block = 8,    ///< `high` is a frame of the unit's block
    in_samples = 16  ///< `high` is in samples, the input in seconds
};

struct Rule {
    std::string_view ugen;
    std::uint32_t input;
    float low, high;
    unsigned kind = always;
};

// A bus below the first one is taken for an address; the first one is what scsynth uses instead at the start.
constexpr float no_bus = 16777216.f;
// The product of the most channels and the most frames is just no overflow.
constexpr float most_channels = 256.f, most_frames = 4194304.f;
constexpr float most_stages = 65536.f;
// Delay lines are rounded to a power of two of 32 bits: at 1 MHz these have 2^30 samples, three of the others too.
constexpr float most_seconds = 1000.f, most_seconds_of_three = 300.f;
// Less is one frame as well, but none is a line without end.
constexpr float least_seconds = 1e-7f;
// The bytes of twice as many are just no overflow; the FFT itself refuses more than 2^18.
constexpr float most_points = 134217728.f;
// Twice the period of the lowest frequency at 1 MHz is just no overflow.
constexpr float least_frequency = 0.001f, most_frequency = 1e9f;
// Fits into 32 bits. A counter below none never ends.
constexpr float most_counter = 2.1e9f;
constexpr float most_samples = 1e9f, most_metres = 1e5f, most_counted = 65536.f;

constexpr Rule rules[] = {
    {"Out", 0, 0.f, no_bus, audio_only},
    {"ReplaceOut", 0, 0.f, no_bus, audio_only},
    {"OffsetOut", 0, 0.f, no_bus},
    {"XOut", 0, 0.f, no_bus, audio_only},
    {"In", 0, 0.f, no_bus, audio_only},
    {"InFeedback", 0, 0.f, no_bus},
    {"SendPeakRMS", 0, least_frequency, 1000.f, at_start}, // messages per second
    {"MaxLocalBufs", 0, 0.f, most_counted, at_start},
    {"LocalBuf", 0, 1.f, most_channels, at_start},
    {"LocalBuf", 1, 1.f, most_frames, at_start},
    {"SetBuf", 1, 0.f, most_samples, at_start}, // the first sample to set
    {"XLine", 2, 0.f, most_counter, at_start | in_samples},
    {"Vibrato", 4, 0.f, most_counter, in_samples}, // the attack, also of each trigger
    {"T2A", 1, 0.f, 0.f, in_block}, // the frame of the trigger
    {"EnvGen", 7, -99.f, most_stages}, // the node to hold at until released
    {"EnvGen", 8, -99.f, most_stages}, // the node to return to until then
    {"DelayN", 1, 0.f, most_seconds, at_start},
    {"DelayL", 1, 0.f, most_seconds, at_start},
    {"DelayC", 1, 0.f, most_seconds, at_start},
    {"CombN", 1, 0.f, most_seconds, at_start},
    {"CombL", 1, 0.f, most_seconds, at_start},
    {"CombC", 1, 0.f, most_seconds, at_start},
    {"AllpassN", 1, 0.f, most_seconds, at_start},
    {"AllpassL", 1, 0.f, most_seconds, at_start},
    {"AllpassC", 1, 0.f, most_seconds, at_start},
    {"Pluck", 2, 0.f, most_seconds, at_start},
    {"Limiter", 2, least_seconds, most_seconds_of_three, at_start},
    {"Normalizer", 2, least_seconds, most_seconds_of_three, at_start},
    {"PitchShift", 1, 0.f, most_seconds_of_three},
    {"RunningSum", 1, 1.f, most_samples, at_start},
    {"Median", 0, 1.f, 31.f, at_start},
    {"Convolution", 2, 0.f, most_points, at_start},
    {"Convolution2", 3, 0.f, most_points, at_start},
    {"Convolution2L", 3, 0.f, most_points, at_start},
    {"StereoConvolution2L", 4, 0.f, most_points, at_start},
    {"Convolution3", 3, 0.f, most_points, at_start},
    {"GVerb", 9, 0.f, most_metres, at_start},
    {"GVerb", 1, 0.f, 9, below_input}, // the room is no larger than the largest
    {"Pitch", 2, least_frequency, most_frequency, at_start},
    {"Pitch", 3, least_frequency, most_frequency, at_start},
    {"Pitch", 5, 1.f, most_counted, at_start}, // bins
    {"Pitch", 6, 1.f, 32.f, at_start},         // values of which the median is taken
    {"Pitch", 9, 0.f, most_counted, at_start}, // samples that are left out
    {"BeatTrack2", 1, 0.f, 1024.f, at_start},  // features
    {"BeatTrack2", 2, 0.f, 100.f, at_start},   // seconds
    {"BeatTrack2", 3, 0.001f, 1000.f, at_start},
    {"Onsets", 6, 1.f, 1048576.f}, // values of which the median is taken
};

// EnvGen's inputs: nine, then four for each of its stages.
constexpr std::uint32_t envelope_count_input = 6, envelope_head = 9, envelope_stage = 4;

} // namespace

std::vector<InputGuard> input_guards(const SynthDef& def, int block_size) {
    std::vector<InputGuard> guards;
    for (std::uint32_t i = 0; i < def.units.size(); ++i) {
        const UnitSpec& unit = def.units[i];
        const auto constant = [&](std::uint32_t input) {
            const InputRef& from = unit.inputs[input];
            return from.is_constant() ? std::optional(def.constants[from.index]) : std::nullopt;
        };
        const auto add = [&](InputGuard guard) {
            const auto number = [](std::int32_t input) { return static_cast<std::uint32_t>(input); };
            if (guard.input >= unit.inputs.size() ||
                (guard.high_input >= 0 && number(guard.high_input) >= unit.inputs.size()))
                return;
            guard.unit = i;
            // At the highest rate; what is less always fits.
            constexpr float highest_rate = 1e6f;
            const auto value = constant(guard.input);
            const auto high = guard.high_input < 0 ? guard.high : constant(number(guard.high_input));
            if (value && high && guard.apply(*value, guard.in_samples ? *high / highest_rate : *high) == *value)
                return;
            guards.push_back(guard);
        };
        for (const Rule& rule : rules) {
            if (unit.name != rule.ugen || ((rule.kind & audio_only) && unit.rate != Rate::audio))
                continue;
            const bool below = rule.kind & below_input;
            const float last_frame = unit.rate == Rate::audio ? static_cast<float>(block_size - 1) : 0.f;
            add({.input = rule.input,
                 .low = rule.low,
                 .high = below ? 0.f : rule.kind & in_block ? last_frame : rule.high,
                 .in_samples = (rule.kind & in_samples) != 0,
                 .at_start = (rule.kind & at_start) != 0,
                 .high_input = below ? static_cast<std::int32_t>(rule.high) : -1});
        }
        if (unit.name == "EnvGen" && unit.inputs.size() >= envelope_head)
            add({.input = envelope_count_input,
                 .low = 0.f,
                 .high = static_cast<float>((unit.inputs.size() - envelope_head) / envelope_stage)});
    }
    return guards;
}

} // namespace scs

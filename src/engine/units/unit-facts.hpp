// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/rate.hpp"
#include "engine/units/unit-effects.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

// What is known of SuperCollider's units, one row for each: what they assume without checking, so that they could harm
// the process; which inputs they read sample by sample; which make phases; what their blocks depend on and change,
// which says where they may be computed. src/engine/synthdef uses this when a SynthDef arrives, src/engine/plugins when
// plugins are loaded.

namespace scs {

/// Bits of UnitFacts::rates.
constexpr uint8_t rate_bit(Rate rate) {
    return uint8_t(1u << unsigned(rate));
}

/// Far above any count that a unit can use, and small enough for sums of a few counts.
constexpr float most_ports = 65536.f;

/// An input with a count of the unit's inputs or outputs: there must be at least base + each × count.
struct PortCount {
    uint8_t count_input = 0;
    uint8_t base = 0, each = 0;
    bool of_outputs = false;
    bool each_time = false;  ///< the unit reads the count anew at each use: if it isn't constant, it needs a limit
    float most = most_ports; ///< the unit limits the count to this itself
};

/// An input that the unit uses as an index or a size without a check.
struct InputLimit {
    enum Kind : uint8_t {
        always = 0,
        at_audio_rate = 1, ///< at control rate the unit checks it itself
        at_start = 2,      ///< only the constructor reads the input
        in_block = 4,      ///< `high` is the last frame of the unit's block
        in_samples = 8,    ///< `high` is in samples, the input in seconds
        in_bins = 16,      ///< `high` is the number of bins of the chain that input 0 names
    };
    uint8_t input = 0;
    uint8_t kind = always;  ///< a set of Kind
    int8_t high_input = -1; ///< another input, limited before this one, whose value is the limit in place of `high`
    float low = 0, high = 0;
};

/// What a unit takes for granted of the sample buffer that one of its inputs names, though it writes there: it isn't
/// called while that isn't so.
struct BufferNeed {
    enum Kind : uint8_t {
        none,
        samples,     ///< at least `count` samples
        bins,        ///< as many samples as the chain of input 0 has bins, and `count` more
        spectra,     ///< as many spectra of the chain of input 0 as go into its number of frames, 3 samples further on
        period,      ///< as many samples as the input `count` says, one or more
        wrapped,     ///< a mask that wraps positions, which the buffer of a file that is streamed doesn't have
        chosen_bins, ///< no buffer: three inputs from `input` on choose bins of the chain of input 0
    };
    enum Stays : uint8_t {
        anything,
        size,           ///< must have the size that it had when the unit was made
        size_of_number, ///< the same; the unit looks at the size anew when another number comes
        memory,         ///< must not be replaced either
    };
    Kind kind = none;
    uint8_t input = 0;
    uint16_t count = 0;
    Stays stays = anything;
    bool at_start = false; ///< only the constructor reads the number
    bool local = true;     ///< finds the synth's own buffers; otherwise it would take the first buffer for them
    bool optional = false; ///< a number below 0 means none
};

/// Checks of inputs and outputs that go beyond counts; they are in src/engine/synthdef/unit-check.cpp.
enum class Check : uint8_t { none, demand, lag_control, send_peak_rms, pack_fft, tag_system };

/// What a unit at audio rate with just its least inputs does with phases for BufRd; see synthdef/fine-phases.hpp.
enum class Phase : uint8_t {
    none,
    makes,  ///< its output is one
    passes, ///< its output is one if one of its inputs is
    reads,  ///< input 1 is one
};

/// A row. With fewer inputs, fewer or more outputs, or at another rate, the unit would read or write outside its
/// memory.
struct UnitFacts {
    std::string_view name;
    uint16_t min_inputs = 0;
    uint16_t min_outputs = 0;
    uint16_t max_outputs = UINT16_MAX;
    uint16_t later_inputs = 0;     ///< how many it has since 3.14, if more: the new ones say what was before its first
    uint8_t rates = 0;             ///< rates that it may run at, a set of rate_bit()
    bool refused = false;          ///< never defined
    int8_t done_action_input = -1; ///< the input with the done action; -1: none
    bool frees = false;            ///< may free its synth without one
    bool pauses = false;           ///< may pause its synth without one
    Check special = Check::none;
    uint8_t num_counts = 0, num_limits = 0;
    PortCount count_rows[2]{};
    InputLimit limit_rows[5]{};
    BufferNeed buffer_need;
    /// A bit for each input, up to the 64th, that the unit at audio rate reads sample by sample, although it may be at
    /// another rate and has one number then.
    uint64_t block_inputs = 0;
    Phase phase = Phase::none;
    uint64_t phase_operators = 0; ///< those with which an operator `passes` phases; 0: the unit is no operator
    bool effects_known = false;
    UnitEffects effects;

    std::span<const PortCount> counts() const noexcept { return {count_rows, num_counts}; }
    std::span<const InputLimit> limits() const noexcept { return {limit_rows, num_limits}; }

    // How a row is written.
    constexpr UnitFacts counts_inputs(uint8_t count_input, uint8_t base, uint8_t each) const {
        return with(PortCount{count_input, base, each, false, false, most_ports});
    }
    constexpr UnitFacts counts_inputs_each_time(uint8_t count_input, uint8_t base, uint8_t each) const {
        return with(PortCount{count_input, base, each, false, true, most_ports});
    }
    constexpr UnitFacts counts_outputs(uint8_t count_input, uint8_t base, uint8_t each, float most = most_ports) const {
        return with(PortCount{count_input, base, each, true, false, most});
    }
    constexpr UnitFacts limit(uint8_t input, float low, float high, int kind = InputLimit::always) const {
        return with(InputLimit{input, uint8_t(kind), -1, low, high});
    }
    constexpr UnitFacts limit_by_input(uint8_t input, float low, int8_t high_input) const {
        return with(InputLimit{input, InputLimit::always, high_input, low, 0});
    }
    constexpr UnitFacts needs(BufferNeed need) const {
        UnitFacts facts = *this;
        facts.buffer_need = need;
        return facts;
    }
    constexpr UnitFacts check(Check c) const {
        UnitFacts facts = *this;
        facts.special = c;
        return facts;
    }
    constexpr UnitFacts done_action(int8_t input) const {
        UnitFacts facts = *this;
        facts.done_action_input = input;
        return facts;
    }
    constexpr UnitFacts frees_synth() const {
        UnitFacts facts = *this;
        facts.frees = true;
        return facts;
    }
    constexpr UnitFacts inputs_since_3_14(uint16_t count) const {
        UnitFacts facts = *this;
        facts.later_inputs = count;
        return facts;
    }
    constexpr UnitFacts pauses_synth() const {
        UnitFacts facts = *this;
        facts.pauses = true;
        return facts;
    }
    constexpr UnitFacts reads_samples(uint64_t inputs) const {
        UnitFacts facts = *this;
        facts.block_inputs = inputs;
        return facts;
    }
    constexpr UnitFacts does(int kinds) const {
        UnitFacts facts = *this;
        facts.effects_known = true;
        facts.effects.kinds = uint8_t(kinds);
        return facts;
    }
    constexpr UnitFacts draws_as(std::initializer_list<int> operators) const {
        UnitFacts facts = *this;
        facts.effects.drawing_operators = set_of(operators);
        return facts;
    }
    constexpr UnitFacts makes_phases() const { return with(Phase::makes); }
    constexpr UnitFacts reads_phases() const { return with(Phase::reads); }
    constexpr UnitFacts passes_phases(std::initializer_list<int> operators = {}) const {
        UnitFacts facts = with(Phase::passes);
        facts.phase_operators = set_of(operators);
        return facts;
    }

private:
    static constexpr uint64_t set_of(std::initializer_list<int> operators) {
        uint64_t set = 0;
        for (const int one : operators)
            set |= uint64_t(1) << one;
        return set;
    }
    constexpr UnitFacts with(Phase one) const {
        UnitFacts facts = *this;
        facts.phase = one;
        return facts;
    }
    constexpr UnitFacts with(PortCount count) const {
        UnitFacts facts = *this;
        facts.count_rows[facts.num_counts++] = count;
        return facts;
    }
    constexpr UnitFacts with(InputLimit limit) const {
        UnitFacts facts = *this;
        facts.limit_rows[facts.num_limits++] = limit;
        return facts;
    }
};

/// [any] All rows, sorted by name.
std::span<const UnitFacts> all_unit_facts();
/// [any] The row of a unit of SuperCollider's core or of sc3-plugins; null for any other.
const UnitFacts* find_unit_facts(std::string_view name);
/// [any] UnitFacts::block_inputs of a unit; all if nothing is known of it.
uint64_t block_inputs(std::string_view unit);

/// A plugin file that is never loaded, and why.
struct RefusedFile {
    std::string_view name; ///< without folder and suffix
    std::string_view reason;
};
/// [any] What says that a plugin file of that path is never loaded, or null.
const RefusedFile* refusal_of(std::string_view path);

/// [any] How many bytes a unit may write beyond the size that it registers.
size_t unregistered_bytes(std::string_view name);

/// [any] Whether the spectra that PreparePartConv makes of a source fit into its target, which it doesn't check. It
/// writes a spectrum of `points` samples for every points / 2 frames.
bool spectra_fit(int64_t source_frames, int points, int64_t target_samples);

} // namespace scs

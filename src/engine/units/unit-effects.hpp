// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace scs {

/// Whether an operator's special index is in a set of them: a bit for each below 64.
constexpr bool has_operator(uint64_t set, int special_index) noexcept {
    return special_index >= 0 && special_index < 64 && (set >> special_index & 1u);
}

/// What a unit of a plugin does in its blocks beside computing its outputs from its inputs and its own memory. A unit
/// of which nothing is known may do anything. None of the others reaches buses, or acts on nodes other than by a done
/// action that is an input. Those that aren't `alone` don't remember where their inputs and outputs are, and write all
/// of their outputs in each block: what a unit leaves as it was is what another synth has left there.
struct UnitEffects {
    enum Kind : uint8_t {
        nothing = 0,
        draws = 1,          ///< random numbers, from its synth's generator
        reads_buffers = 2,  ///< sample buffers by number
        writes_buffers = 4, ///< the same
        changes_chain = 8,  ///< writes to the buffer of the spectra that its first input names
        sends = 16,         ///< messages to clients, or lines to the log, perhaps only when something is wrong
        allocates = 32,     ///< real-time memory
        alone = 64,         ///< depends on more than that, or ends its synth: only for the data loop, in its turn
        changes_second_chain = 128, ///< the same as changes_chain with the second input
    };
    uint8_t kinds = nothing;
    uint64_t drawing_operators = 0; ///< those with which an operator `draws`, too

    constexpr bool draws_as(int special_index) const noexcept { return has_operator(drawing_operators, special_index); }
};

/// [any] Those of a unit; null: nothing is known of it.
const UnitEffects* find_unit_effects(std::string_view name);

} // namespace scs

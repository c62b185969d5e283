// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/result.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace scs {

/// Bits of UgenArity::rates.
constexpr std::uint8_t rate_bit(Rate rate) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(rate)); }

/// What a UGen's code takes for granted and never checks: fewer inputs or outputs, or another rate, make it
/// read or write outside its memory.
struct UgenArity {
    std::string_view name;
    std::uint16_t min_inputs = 0;
    std::uint16_t min_outputs = 0;
    std::uint8_t rates = 0x0f; ///< the rates it may run at, a set of rate_bit()
};

/// [any] The entry of a UGen of SuperCollider's core or of sc3-plugins; null for any other.
const UgenArity* find_ugen_arity(std::string_view name);

/// [any] Judges the inputs and outputs of one unit: their least number, its rate, and for UGens that take a
/// variable number (EnvGen's stages, Demand's list …) that the count they are told agrees with what they have.
/// UGens that are not in the table are accepted. unit_index is an index into def.units, whose
/// inputs must have been found to refer to something that exists.
std::optional<Error> check_ugen_arity(const SynthDef& def, std::size_t unit_index);

} // namespace scs

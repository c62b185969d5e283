// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace scs {

/// Bits of UgenArity::rates.
constexpr std::uint8_t rate_bit(Rate rate) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(rate));
}

/// What a UGen's code takes for granted and never checks: fewer inputs, fewer or more outputs,
/// another rate make it read or write outside its memory.
struct UgenArity {
    std::string_view name;
    std::uint16_t min_inputs = 0;
    std::uint16_t min_outputs = 0;
    std::uint16_t max_outputs = UINT16_MAX;
    std::uint8_t rates = 0x0f; ///< the rates it may run at, a set of rate_bit()
};

/// [any] The entry of a UGen of SuperCollider's core or of sc3-plugins; null for any other.
const UgenArity* find_ugen_arity(std::string_view name);
/// [any] All entries, by index; null behind the last.
const UgenArity* ugen_arity_at(std::size_t index);

} // namespace scs

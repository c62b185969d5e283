// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/synthdef/synthdef.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <cstddef>
#include <optional>

namespace scs {

/// The most memory that one instance of a definition may take, in bytes.
inline constexpr size_t max_instance_bytes = 64u << 20;

/// [any] Judges whether a definition can be run safely: every reference leads to something that
/// exists, every UGen is installed and has the inputs and outputs its code takes for granted, an
/// instance's memory is bounded. Returns nothing if so, else the first thing that is wrong (e.g.
/// "UGen 'X' not installed"); the text doesn't name the definition. A pure function of its
/// arguments.
std::optional<Error> validate(const SynthDef& def, const UgenCatalog& catalog);

} // namespace scs

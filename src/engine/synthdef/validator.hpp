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

/// [any but rt] Checks that a definition can run safely: every reference leads to something that exists, every UGen is
/// installed and has the inputs and outputs that its code relies on, and an instance's memory is bounded. Returns
/// nothing if so, else the first problem (e.g. "UGen 'X' not installed", with the catalog's advice), without
/// the definition's name. A pure function otherwise.
std::optional<Error> validate(const SynthDef& def, const UgenCatalog& catalog);

} // namespace scs

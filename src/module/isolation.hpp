// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "properties.hpp"

#include <optional>

namespace scs::module {

/// Where a node runs: on the daemon's data loop, or in a process of its own.
enum class Isolation { loop, process };

/// Reads `scsynth.isolation` from the settings. None: it has another value. [main]
std::optional<Isolation> isolation_of(const Properties& settings);

} // namespace scs::module

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "properties.hpp"

#include <optional>
#include <string>

namespace scs::module {

/// Where a node runs: on the daemon's data loop, or in a process of its own.
enum class Isolation { loop, process };

/// Reads `scsynth.isolation` from the settings. None: it has another value. [main]
std::optional<Isolation> isolation_of(const Properties& settings);

/// The file that a node with these settings leaves behind if its process ends because the heap is corrupted, in a
/// folder that is made if need be; empty if there is no runtime directory or nothing to tell the node from others.
/// [main]
std::string heap_marker_path(const Properties& settings);

/// Whether the last run left the file, which is removed. [main]
bool take_heap_marker(const std::string& path);

} // namespace scs::module

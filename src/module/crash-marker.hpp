// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "properties.hpp"

#include <optional>
#include <string>

namespace scs::module {

/// The file that a node with these settings leaves if its process crashes, in a folder that is made if need be; empty
/// if there is no runtime directory or nothing to tell the node from others. [main]
std::string crash_marker_path(const Properties& settings);

/// Where such a node keeps what outlives its process (scsynth.keep-path). Empty if its port is chosen anew each time,
/// or there is no runtime directory. [main]
std::string kept_folder_path(const Properties& settings);

/// The first line, made printable, of the file that the last run left, which is removed; none: it left none. [main]
std::optional<std::string> take_crash_marker(const std::string& path);

} // namespace scs::module

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace scs::cli {

/// The servers that the PipeWire daemon has, a line each with how to ask it, `command` being the word behind
/// pw-scsynth; empty if there is none, or no daemon.
std::string list_servers(const std::string& command);

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <string>

namespace scs::cli {

/// The servers that the PipeWire daemon has, a line each with how to ask it, `command` being the word behind
/// pw-scsynth; empty if there is none, or no daemon.
std::string list_servers(const std::string& command);

/// What `pw-scsynth --devices` prints. The error says why there is none.
Result<std::string> list_devices();

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"
#include "engine/base/result.hpp"

#include <cstdint>
#include <string>

namespace scs::cli {

/// The servers that the PipeWire daemon has, a line each with how to ask it, `command` being the word after
/// pw-scsynth; empty if there is none, or no daemon.
std::string list_servers(const std::string& command);

/// What the PipeWire daemon knows of the server that has this port, and of the node with the id `driver`, which drives
/// it. Nothing is known if it has no such server, or there is no daemon.
status::Surroundings look_around(int port, uint32_t driver);

/// What `pw-scsynth --devices` prints. The error says why there is none.
Result<std::string> list_devices();

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/command-line.hpp"

namespace scs::cli {

/// Makes the node that the line asks for, in the daemon or in this process, and prints the line that clients wait for.
/// It stays until the node is gone, by /quit or otherwise, or until SIGINT, SIGTERM or SIGHUP comes. Then it removes
/// the node and returns 0. If it is killed, PipeWire removes the node.
/// When the daemon ends, it waits for the next one and makes the node again, on the same port.
/// Errors: no daemon, the port is taken, a failed start, the daemon has ended before or, several times, right after it.
Result<int> run_server(const CommandLine& line);

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/command-line.hpp"

namespace scs::cli {

/// Makes the node that the line asks for, in the daemon or in this process, says on standard output what clients
/// wait for, and stays until the node is gone, by /quit or otherwise, or SIGINT, SIGTERM or SIGHUP come; then takes
/// the node away and returns 0. Killed, it takes the node along: PipeWire removes what a client leaves behind.
/// Errors: no daemon, the port is taken, a failed start, the daemon has ended.
Result<int> run_server(const CommandLine& line);

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/transport/options.hpp"

#include <functional>
#include <string>

namespace scs::transport {

/// Drives the graph's transport, and does what the server's clients want of it, until SIGINT, SIGTERM or SIGHUP. An
/// error: there is no PipeWire, or no server, or one of them is gone. `elsewhere`: which servers there are, in lines.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::transport

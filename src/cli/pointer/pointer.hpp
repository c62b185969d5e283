// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/pointer/options.hpp"

#include <functional>
#include <string>

namespace scs::pointer {

/// Tells the server where the pointer is, each time that it has changed and every 2 s, until SIGINT, SIGTERM or SIGHUP.
/// An error: there is no display, or no server, or it is gone. `elsewhere`: which servers there are, in lines.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::pointer

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/link/options.hpp"

#include <functional>
#include <string>

namespace scs::link {

/// Joins the network's Link session and tells the server where it is, each time that it has changed and twice a second,
/// until SIGINT, SIGTERM or SIGHUP; then, that it has left. An error: there is no server, or it is gone. `elsewhere`:
/// which servers there are, in lines.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::link

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/gamepad/options.hpp"
#include "engine/base/result.hpp"

#include <functional>
#include <string>

namespace scs::gamepad {

/// Tells the server what devices do until SIGINT, SIGTERM or SIGHUP: true. An error: there is nothing to read, no
/// server, or it is gone. `elsewhere`: which servers there are, in lines, for that message. Prints which devices come
/// and go.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::gamepad

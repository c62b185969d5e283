// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"
#include "cli/status/options.hpp"
#include "engine/base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace scs::status {

/// What PipeWire knows of the server that has this port, and of the node that drives it.
using LookAround = std::function<Surroundings(int port, uint32_t driver)>;

/// Prints what a server has. `elsewhere`: which servers there are, in lines. Errors: there is no server, it doesn't
/// tell, a signal has come, it can't be written.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere, const LookAround&);

} // namespace scs::status

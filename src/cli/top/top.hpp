// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/options.hpp"
#include "engine/base/result.hpp"

#include <functional>
#include <string>

namespace scs::top {

/// Shows a server until the user or a signal ends it, or once. `elsewhere` says which servers there are besides, in
/// whole lines; it is asked if none answers at the beginning. Later the program waits for the server's return.
Result<bool> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::top

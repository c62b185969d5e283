// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "failure.hpp"
#include "properties.hpp"

#include <optional>

namespace scs::module {

/// Asks the daemon to make a node that stays when this process is gone, and waits up to 5 s for the
/// answer. `remote.name` among the settings names another daemon than the default one. [main]
std::optional<Failure> make_remote_node(Properties settings);

} // namespace scs::module

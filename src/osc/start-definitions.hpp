// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/osc-command.hpp"
#include "osc/server.hpp"

#include <functional>
#include <memory>
#include <string>

namespace scs::osc {

/// [worker] A bundle that installs the SynthDefs in the folders that the settings name, and its bindings, for an engine
/// with the settings `engine`; null if there are none. Reports broken ones, and stops early if `stopping` says so.
std::unique_ptr<CommandBundle> load_start_definitions(Services& services, const Settings& engine,
                                                      const std::function<void(const std::string&)>& report,
                                                      const std::function<bool()>& stopping);

} // namespace scs::osc

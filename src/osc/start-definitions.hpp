// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/server.hpp"

#include <functional>
#include <memory>
#include <string>

namespace scs::osc {

/// [worker] A bundle that makes known what the SynthDef folders of `settings` hold; null if there is nothing.
/// Reports broken SynthDefs, and stops early if `stopping`.
std::unique_ptr<Bundle> load_start_definitions(const ServerSettings& settings,
                                                    const std::function<void(const std::string&)>& report,
                                                    const std::function<bool()>& stopping);

} // namespace scs::osc

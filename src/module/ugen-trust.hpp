// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "failure.hpp"

#include <pipewire/impl-module.h>

#include <optional>

namespace scs::module {

/// Passes on to the plugin what only the daemon's configuration may say: the folders `allowed`, with colons between,
/// from which all nodes may load UGens, as long as the module is loaded; and that the nodes made before the daemon
/// first serves a client are the configuration's own, and may load them from anywhere. `settings` name the plugin.
/// [main]
std::optional<Failure> pass_on_trust(pw_impl_module* module, const spa_dict& settings, const char* allowed);

} // namespace scs::module

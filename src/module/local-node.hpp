// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "failure.hpp"
#include "properties.hpp"

#include <pipewire/impl-module.h>

#include <optional>

namespace scs::module {

/// Adds what the daemon tells a node: how long its cycles may be, and its rate unless the settings have one. [main]
void add_daemon_defaults(pw_impl_module* module, const Properties& settings);

/// Makes the node in this process. From then on node and module end together: the node when `module` is unloaded,
/// `module` when somebody destroys the node, or when the node announces `scsynth.state = quit` and `settings` have
/// `scsynth.allow-quit = true`. [main]
std::optional<Failure> make_local_node(pw_impl_module* module, Properties settings);

} // namespace scs::module

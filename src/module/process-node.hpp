// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "failure.hpp"
#include "properties.hpp"

#include <pipewire/impl-module.h>

#include <optional>

namespace scs::module {

/// Whether the program of make_process_node() is there. [main]
bool has_program(const Properties& settings);

/// Has the node made by a process of its own, which is started again whenever it ends by a fault. It ends with
/// `module`, and `module` with it, if it ends by itself: when somebody destroys the node, or by /quit if the settings
/// allow that. `program.name` in the settings is the program to run, if not the pw-scsynth that was installed with this
/// module. [main]
std::optional<Failure> make_process_node(pw_impl_module* module, Properties settings);

} // namespace scs::module

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/osc-command.hpp"

#include <span>

namespace scs::osc {

/// The command table's sections, a file each. Their rows live for ever.
std::span<const CommandSpec> top_commands();
std::span<const CommandSpec> definition_commands();
std::span<const CommandSpec> synth_commands();
std::span<const CommandSpec> node_commands();
std::span<const CommandSpec> group_commands();
std::span<const CommandSpec> bus_commands();
std::span<const CommandSpec> buffer_commands();
std::span<const CommandSpec> plugin_commands();

/// [any] The row of a message's command, or null: by its number, else by its name without the slash.
const CommandSpec* find_command(const Message&) noexcept;
/// [any] Every section.
std::span<const std::span<const CommandSpec>> all_commands();

} // namespace scs::osc

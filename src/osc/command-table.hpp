// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "osc/osc-command.hpp"

#include <span>
#include <string>
#include <string_view>

namespace scs::osc {

/// The command table's sections, a file each. Their rows live as long as the program. What two rows may not share is
/// checked by the test "the command table is sound".
std::span<const CommandSpec> top_commands();
std::span<const CommandSpec> definition_commands();
std::span<const CommandSpec> synth_commands();
std::span<const CommandSpec> node_commands();
std::span<const CommandSpec> group_commands();
std::span<const CommandSpec> cost_commands();
std::span<const CommandSpec> trace_commands();
std::span<const CommandSpec> state_commands();
std::span<const CommandSpec> bus_commands();
std::span<const CommandSpec> buffer_commands();
std::span<const CommandSpec> plugin_commands();
std::span<const CommandSpec> binding_commands();
std::span<const CommandSpec> pointer_commands();
std::span<const CommandSpec> midi_commands();
std::span<const CommandSpec> transport_commands();
std::span<const CommandSpec> link_commands();
std::span<const CommandSpec> list_commands();

/// [any] The row of a message's command, or null: by its number, else by its name without the slash.
const CommandSpec* find_command(const Message&) noexcept SCS_NONBLOCKING;
/// [any] Whether arguments begin as CommandSpec::types says.
bool has_types(std::span<const Arg>, std::string_view types) noexcept SCS_NONBLOCKING;
/// [any] Every section.
std::span<const std::span<const CommandSpec>> all_commands();
/// [any] What is wrong with a table: a number or name that two rows have, a name without its slash, a row with both a
/// handler and a maker. Empty if nothing is.
std::string table_mistake(std::span<const std::span<const CommandSpec>> sections);

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "engine/messages/reply-to.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace scs {

class PluginWorld;
struct PluginCommand;

/// [any] The command that a plugin defined under this name (/cmd), in any version of its file, or null.
const PluginCommand* find_plugin_command(std::string_view name);

/// [rt] Runs the command. `arguments` as for run_buf_gen(). Its later stages and its answer become events for `from`.
/// false: it crashed, which the log is told, or the engine doesn't have it.
bool run_plugin_command(PluginWorld&, std::string_view name, const PluginCommand&, std::span<const std::byte> arguments,
                        const ReplyTo& from) noexcept SCS_NONBLOCKING;

} // namespace scs

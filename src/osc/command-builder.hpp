// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/osc-command.hpp"

#include <memory>
#include <string_view>

namespace scs::osc {

/// How deep completion messages may be nested.
inline constexpr int max_completion_depth = 16;

/// [osc] The commands of one of the packet's bundles, ready to be submitted. Here it is found out whether something is
/// wrong with a command; that is answered when it is run, so that answers keep the order of the messages.
std::unique_ptr<CommandBundle> make_bundle(Services&, const std::shared_ptr<const Packet>&, const PacketBundle&,
                                           const Endpoint& from);

/// [osc] A bundle that does nothing but answer `/done <name>`, after the answers of all bundles before it.
std::unique_ptr<CommandBundle> make_late_done(std::string_view name, const Endpoint& to);

} // namespace scs::osc

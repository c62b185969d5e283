// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/osc-command.hpp"

#include <memory>
#include <string_view>

namespace scs::osc {

/// How deep completion messages may stand in completion messages.
inline constexpr int max_completion_depth = 16;

/// [osc] The commands of one of the packet's bundles, ready to be submitted. What is wrong with a command is
/// found out here and answered when it is run, so that answers keep their order.
std::unique_ptr<Bundle> make_bundle(Services&, const std::shared_ptr<const Packet>&, const PacketBundle&,
                                         const Endpoint& from);

/// [osc] A bundle that does nothing but answer `/done <name>` in its turn.
std::unique_ptr<Bundle> make_late_done(std::string_view name, const Endpoint& to);

} // namespace scs::osc

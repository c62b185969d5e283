// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/messages/command.hpp"
#include "osc/osc-command.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace scs::osc {

/// How deep completion messages may be nested.
inline constexpr int max_completion_depth = 16;

/// [osc] The commands of one of the packet's bundles, ready to be submitted. Here it is found out whether something is
/// wrong with a command; that is answered when it is run, so that answers keep the order of the messages.
std::unique_ptr<CommandBundle> make_bundle(Services&, const std::shared_ptr<const Packet>&, const PacketBundle&,
                                           const Endpoint& from);

/// [osc] The completion that a plugin's command asks for: the messages of a packet, whenever they are due, ready to run
/// at once. An error says what is wrong with the packet.
Result<std::unique_ptr<CommandBundle>> make_completion(Services&, std::span<const std::byte> packet,
                                                       const Endpoint& from);

} // namespace scs::osc

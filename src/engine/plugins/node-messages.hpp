// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

#include <span>
#include <string_view>

namespace scs {

/// [rt] What SendTrig sends: clients get a /tr, and bindings hear it. `frame`: of the block.
void send_trigger(::Node&, int frame, int id, float value) noexcept;
/// [rt] The same of SendReply. `path`: the address of the message.
void send_node_reply(::Node&, int frame, int id, std::string_view path, std::span<const float> values) noexcept;

} // namespace scs

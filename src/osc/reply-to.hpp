// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/reply-to.hpp"
#include "osc/endpoint.hpp"

#include <cstdint>

namespace scs::osc {

/// An endpoint of the server whose PluginOutlet has this number, in the form in which the engine and plugins carry it;
/// and back. [any]
ReplyTo to_reply_to(const Endpoint&, uint64_t outlet) noexcept SCS_NONBLOCKING;
Endpoint to_endpoint(uint64_t client) noexcept;

} // namespace scs::osc

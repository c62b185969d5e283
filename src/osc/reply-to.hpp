// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/events.hpp"
#include "osc/endpoint.hpp"

#include <cstring>
#include <type_traits>

namespace scs::osc {

static_assert(std::is_trivially_copyable_v<Endpoint> && sizeof(Endpoint) <= sizeof(ReplyTo));

/// An endpoint in the form in which the engine carries it, without knowing what it is; and back. [any]
inline ReplyTo to_reply_to(const Endpoint& endpoint) noexcept {
    ReplyTo result{};
    std::memcpy(result.bytes, &endpoint, sizeof endpoint);
    return result;
}

inline Endpoint to_endpoint(const ReplyTo& reply_to) noexcept {
    Endpoint result;
    std::memcpy(static_cast<void*>(&result), reply_to.bytes, sizeof result);
    return result;
}

} // namespace scs::osc

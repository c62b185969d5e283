// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/reply-to.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

/// What plugins' commands get to answer by: scsynth's ReplyAddress, which plugins that include its header
/// (common/SC_ReplyImpl.hpp) copy, member by member, and whose function they call with their copy, at any time and from
/// any thread. It begins with a boost::asio::ip::address, whose size depends on boost's release, and so do the places
/// of what follows. Both layouts are served:
///
/// | member          | boost 1.74 (Debian 12)   | boost 1.83 to 1.92       |
/// |-----------------|--------------------------|--------------------------|
/// | kind, IPv4      | 0, 4                     | 0, 4                     |
/// | IPv6, its scope | 8, 24 (8 bytes)          | 8, 24 (4 bytes)          |
/// | protocol, port  | 32, 36                   | 28, 32                   |
/// | socket          | 40                       | 36                       |
/// | function, data  | 48, 56                   | 40, 48                   |
///
/// `to` takes the place of the 16 bytes of the IPv6 address, which no plugin reads, as the kind is IPv4.
struct ReplyAddress {
    using Function = void (*)(ReplyAddress*, char* packet, int bytes);

    int32_t kind = 0;
    uint8_t ipv4[4] = {};
    ReplyTo to;
    uint64_t scope = 0;
    int32_t protocol = 0, port = 0; ///< of the first layout
    Function second_function = nullptr;
    Function first_function = nullptr;
    void* data = nullptr;
};

static_assert(sizeof(ReplyAddress) == 64 && offsetof(ReplyAddress, to) == 8 && offsetof(ReplyAddress, protocol) == 32);
static_assert(offsetof(ReplyAddress, second_function) == 40 && offsetof(ReplyAddress, first_function) == 48);

/// [any] An address that answers `to`.
ReplyAddress make_reply_address(const ReplyTo& to) noexcept SCS_NONBLOCKING;

} // namespace scs

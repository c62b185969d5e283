// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/reply-address.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/messages/events.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-outlet.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/rendering-scope.hpp"

#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace scs {
namespace {

/// The data loop may neither lock nor allocate.
void send_from_rt(PluginWorld& world, const ReplyTo& to, std::span<const std::byte> packet) noexcept {
    const FaultGuard::HostCode whole;
    const ReplyEvent event{{EventKind::packet, uint32_t(sizeof(ReplyEvent) + packet.size())}, to};
    world.outbox().notify(event, packet);
}

/// Crashes here, where the plugin can still be ended, if it has given a wrong address.
void touch_ends(std::span<const std::byte> packet) noexcept {
    const volatile std::byte* const bytes = packet.data();
    static_cast<void>(bytes[0]);
    static_cast<void>(bytes[packet.size() - 1]);
}

/// [any] What plugins call.
void reply(ReplyAddress* address, char* packet, int bytes) {
    if (!address || !packet || bytes <= 0)
        return;
    const ReplyTo to = address->to;
    const std::span from(reinterpret_cast<const std::byte*>(packet), size_t(bytes));
    touch_ends(from);
    if (PluginWorld* world = rendering_world())
        return send_from_rt(*world, to, from);
    try {
        // Copied while the plugin may still be ended, if it has given a wrong address.
        const std::vector<std::byte> copy(from.begin(), from.end());
        const FaultGuard::HostCode whole;
        (void)PluginOutlet::send(to.outlet, to.client, copy);
    } catch (const std::bad_alloc&) { // lost
    }
}

} // namespace

ReplyAddress make_reply_address(const ReplyTo& to) noexcept {
    constexpr uint8_t loopback[] = {127, 0, 0, 1};
    ReplyAddress address;
    std::memcpy(address.ipv4, loopback, sizeof loopback);
    address.to = to;
    address.second_function = address.first_function = reply;
    return address;
}

} // namespace scs

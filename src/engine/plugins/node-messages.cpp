// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/node-messages.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/messages/synth-event.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world-abi.hpp"

namespace scs {

void send_trigger(::Node& node, int frame, int id, float value) noexcept {
    const FaultGuard::HostCode whole;
    PluginWorld& world = owner_of(node.mWorld);
    world.host().hear({node.mID, id, {}, {&value, 1}, frame});
    if (!world.real_time())
        return;
    const TriggerEvent event{{EventKind::trigger, sizeof event}, node.mID, id, value};
    world.outbox().notify(event);
}

void send_node_reply(::Node& node, int frame, int id, std::string_view path, std::span<const float> values) noexcept {
    const FaultGuard::HostCode whole;
    PluginWorld& world = owner_of(node.mWorld);
    world.host().hear({node.mID, id, path, values, frame});
    if (!world.real_time())
        return;
    const NodeReplyEvent event{
        {EventKind::node_reply, uint32_t(sizeof event + values.size_bytes() + path.size())},
        node.mID,
        id,
        int32_t(values.size()),
        uint32_t(path.size()),
    };
    world.outbox().notify(event, std::as_bytes(values), std::as_bytes(std::span(path)));
}

} // namespace scs

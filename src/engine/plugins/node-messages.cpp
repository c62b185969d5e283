// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/node-messages.hpp"

#include "engine/base/c-locale.hpp"
#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/messages/synth-event.hpp"
#include "engine/nodes/node.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/synth-messages.hpp"

namespace scs {
namespace {

void tell_trigger(PluginWorld& world, const SynthEvent& told) noexcept {
    const FaultGuard::HostCode whole;
    world.host().hear(told);
    if (!world.real_time())
        return;
    const TriggerEvent event{{EventKind::trigger, sizeof event}, told.node, told.id, told.values[0]};
    world.outbox().notify(event);
}

void tell_reply(PluginWorld& world, const SynthEvent& told) noexcept {
    const FaultGuard::HostCode whole;
    world.host().hear(told);
    if (!world.real_time())
        return;
    const NodeReplyEvent event{
        {EventKind::node_reply, uint32_t(sizeof event + told.values.size_bytes() + told.path.size())},
        told.node,
        told.id,
        int32_t(told.values.size()),
        uint32_t(told.path.size()),
    };
    world.outbox().notify(event, std::as_bytes(told.values), std::as_bytes(std::span(told.path)));
}

} // namespace

void send_trigger(::Node& node, int frame, int id, float value) noexcept {
    tell_trigger(owner_of(node.mWorld), {node.mID, id, {}, {&value, 1}, frame});
}

void send_node_reply(::Node& node, int frame, int id, std::string_view path, std::span<const float> values) noexcept {
    tell_reply(owner_of(node.mWorld), {node.mID, id, path, values, frame});
}

void SynthMessages::trigger(const Synth& synth, int frame, int32_t id, float value) noexcept {
    tell_trigger(world_, {synth.id, id, {}, {&value, 1}, frame});
}

void SynthMessages::reply(const Synth& synth, int frame, int32_t id, std::string_view path,
                          std::span<const float> values) noexcept {
    tell_reply(world_, {synth.id, id, path, values, frame});
}

void SynthMessages::poll(std::string_view label, float value, int frame) noexcept {
    const FaultGuard::HostCode whole;
    const CLocale numbers;
    TextLine line;
    line.add("%.*s: %g", int(label.size()), label.data(), double(value));
    if (frame >= 0)
        line.add(" block offset: %d", frame);
    line.add("\n");
    world_.outbox().poll(line.take());
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/packet-binding.hpp"

#include "engine/engine.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"
#include "osc/command-table.hpp"

#include <algorithm>

namespace scs::osc {

PacketBinding::PacketBinding(Services& services)
    : Binding(packet_binding_id, {}), services_(services), reader_(limits) {
    (void)find_command(none_); // makes its index
    for (const auto& section : all_commands())
        for (const CommandSpec& spec : section)
            if (spec.bindable)
                commands_.emplace_back(CommandInit{nullptr, &none_, &spec, &services, {}}, "OSC of a control port");
}

/// The command of a message that can be carried out here, or null.
RepeatedCommand* PacketBinding::find(const Message& message) noexcept {
    const CommandSpec* const spec = find_command(message);
    if (!spec || !spec->bindable || !has_types(message.args, spec->types))
        return nullptr;
    const auto found = std::find_if(commands_.begin(), commands_.end(),
                                    [&](const RepeatedCommand& each) { return &each.spec() == spec; });
    return &*found;
}

void PacketBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    constexpr int64_t byte_cost = 2; // ns, an estimate for the deadline
    (void)services_.engine->out_of_time(byte_cost * int64_t(event.packet.size()));
    const Packet* const packet = reader_.read(event.packet);
    left_ = packet ? packet->messages() : std::span<const Message>();
    targets.refused += !packet;
    refused_ = &targets.refused;
}

/// Begins with the next message, if there is time for one.
bool PacketBinding::begin_next() noexcept {
    Engine& engine = *services_.engine;
    if (!engine.tree().freeing().finish() || engine.out_of_time(Deadline::unknown))
        return false;
    const Message& message = left_.front();
    left_ = left_.subspan(1);
    command_ = find(message);
    if (command_)
        command_->begin(message.args);
    else
        ++*refused_;
    return true;
}

bool PacketBinding::go_on() noexcept {
    while (command_ || !left_.empty()) {
        if (!command_ && !begin_next())
            return false;
        if (command_ && !command_->go_on())
            return false;
        command_ = nullptr;
    }
    return true;
}

} // namespace scs::osc

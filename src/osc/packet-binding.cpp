// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/packet-binding.hpp"

#include "osc/command-table.hpp"

#include <algorithm>

namespace scs::osc {

PacketBinding::PacketBinding(int32_t id, Services& services) : Binding(id, {}), reader_(limits) {
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
    const Packet* const packet = reader_.read(event.packet);
    left_ = packet ? packet->messages() : std::span<const Message>();
    targets.refused += !packet;
    refused_ = &targets.refused;
}

/// Begins with the next message. false: there are no more.
bool PacketBinding::begin_next() noexcept {
    while (!left_.empty()) {
        const Message& message = left_.front();
        left_ = left_.subspan(1);
        command_ = find(message);
        if (command_) {
            command_->begin(message.args);
            return true;
        }
        ++*refused_;
    }
    return false;
}

bool PacketBinding::go_on() noexcept {
    while (command_ || begin_next()) {
        if (!command_->go_on())
            return false;
        command_ = nullptr;
    }
    return true;
}

} // namespace scs::osc

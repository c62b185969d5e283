// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-builder.hpp"

#include "osc/command-table.hpp"
#include "osc/reply-port.hpp"

#include <string>

namespace scs::osc {

namespace {

const CommandSpec unknown_spec{.name = ""};

/// An address that isn't in the table, or whose command isn't there: answered even after /error 0, as scsynth does.
class UnknownCommand final : public OscCommand {
public:
    using OscCommand::OscCommand;
    Outcome run(Engine&) noexcept override { return Outcome::reply; }
    void answer(ReplyPort& port) override { port.fail(from(), name_as_sent(), "Command not found"); }
};

std::unique_ptr<OscCommand> build_command(Services& services, const std::shared_ptr<const Packet>& packet,
                                          const Message& message, const Endpoint& from) {
    const CommandSpec* spec = find_command(message);
    const bool known = spec && (spec->handler || spec->make);
    CommandInit init{packet, &message, spec ? spec : &unknown_spec, &services, from};
    if (!known)
        return std::make_unique<UnknownCommand>(std::move(init));
    if (spec->plays && services.resting.load(std::memory_order_relaxed) && services.resting.exchange(false))
        services.rouse();
    auto command = spec->make ? spec->make(std::move(init)) : std::make_unique<OscCommand>(std::move(init));
    if (!has_types(message.args, spec->types))
        command->reject({Code::wrong_argument_type});
    return command;
}

void append_all(Services&, const std::shared_ptr<const Packet>&, std::span<const Message>, const Endpoint&,
                CommandBundle&, int depth);

void add_completion(Services& services, OscCommand& command, const Endpoint& from, int depth) {
    if (command.completion_bytes().empty())
        return;
    if (depth >= max_completion_depth) {
        command.set_failure("completion messages are nested too deeply");
        return;
    }
    auto packet = decode(command.completion_bytes());
    if (!packet) {
        command.set_failure("completion message: " + packet.error());
        return;
    }
    const auto shared = hold(services, std::move(packet.value()));
    auto bundle = std::make_unique<CommandBundle>();
    bundle->time = is_immediate(shared->bundles().front().time) ? immediately : shared->bundles().front().time;
    append_all(services, shared, shared->messages(), from, *bundle, depth + 1);
    command.completion = bundle.release();
}

void append_all(Services& services, const std::shared_ptr<const Packet>& packet, std::span<const Message> messages,
                const Endpoint& from, CommandBundle& bundle, int depth) {
    for (const Message& message : messages) {
        auto command = build_command(services, packet, message, from);
        add_completion(services, *command, from, depth);
        bundle.append(command.release());
    }
}

} // namespace

std::unique_ptr<CommandBundle> make_bundle(Services& services, const std::shared_ptr<const Packet>& packet,
                                           const PacketBundle& source, const Endpoint& from) {
    auto bundle = std::make_unique<CommandBundle>();
    bundle->time = is_immediate(source.time) ? immediately : source.time;
    append_all(services, packet, source.messages, from, *bundle, 0);
    return bundle;
}

Result<std::unique_ptr<CommandBundle>> make_completion(Services& services, std::span<const std::byte> bytes,
                                                       const Endpoint& from) {
    auto packet = decode(bytes);
    if (!packet)
        return Error{packet.error()};
    const auto shared = hold(services, std::move(packet.value()));
    auto bundle = std::make_unique<CommandBundle>();
    bundle->time = immediately;
    append_all(services, shared, shared->messages(), from, *bundle, 1);
    return bundle;
}

} // namespace scs::osc

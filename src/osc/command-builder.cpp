// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-builder.hpp"

#include "osc/command-table.hpp"
#include "osc/reply-port.hpp"

#include <string>

namespace scs::osc {

namespace {

const CommandSpec unknown_spec{-1, ""};

/// An address that isn't in the table, or whose command isn't there: answered even after /error 0, as scsynth does.
class UnknownCommand final : public OscCommand {
public:
    using OscCommand::OscCommand;
    Outcome run(Engine&) noexcept override { return Outcome::reply; }
    void answer(ReplyPort& port) override { port.fail(from(), name_as_sent(), "Command not found"); }
};

class LateDone final : public AnsweringCommand {
public:
    LateDone(std::string_view name, const Endpoint& to) : name_(name), to_(to) {}
    Outcome run(Engine&) noexcept override { return Outcome::reply; }
    void answer(ReplyPort& port) override { port.done(to_, name_); }

private:
    std::string name_;
    Endpoint to_;
};

bool has_types(std::span<const Arg> args, std::string_view types) {
    if (args.size() < types.size())
        return false;
    for (std::size_t i = 0; i < types.size(); ++i)
        if (types[i] != 'i' && types[i] != static_cast<char>(args[i].type))
            return false;
    return true;
}

std::unique_ptr<OscCommand> make_command(Services& services, const std::shared_ptr<const Packet>& packet,
                                         const Message& message, const Endpoint& from) {
    const CommandSpec* spec = find_command(message);
    const bool known = spec && (spec->handler || spec->make);
    CommandInit init{packet, &message, spec ? spec : &unknown_spec, &services, from};
    if (!known)
        return std::make_unique<UnknownCommand>(std::move(init));
    auto command = spec->make ? spec->make(std::move(init)) : std::make_unique<OscCommand>(std::move(init));
    if (!has_types(message.args, spec->types))
        command->reject({Code::wrong_argument_type});
    return command;
}

void append_all(Services&, const std::shared_ptr<const Packet>&, std::span<const Message>, const Endpoint&,
                scs::Bundle&, int depth);

void add_completion(Services& services, OscJob& job, const Endpoint& from, int depth) {
    if (job.completion_bytes().empty())
        return;
    if (depth >= max_completion_depth) {
        job.set_failure("completion messages are nested too deeply");
        return;
    }
    auto packet = decode(job.completion_bytes());
    if (!packet) {
        job.set_failure("completion message: " + packet.error());
        return;
    }
    const auto shared = hold(services, std::move(packet.value()));
    auto bundle = std::make_unique<scs::Bundle>();
    bundle->time = is_immediate(shared->bundles().front().time) ? immediately : shared->bundles().front().time;
    append_all(services, shared, shared->messages(), from, *bundle, depth + 1);
    job.completion = bundle.release();
}

void append_all(Services& services, const std::shared_ptr<const Packet>& packet, std::span<const Message> messages,
                const Endpoint& from, scs::Bundle& bundle, int depth) {
    for (const Message& message : messages) {
        auto command = make_command(services, packet, message, from);
        if (auto* job = dynamic_cast<OscJob*>(command.get()))
            add_completion(services, *job, from, depth);
        bundle.append(command.release());
    }
}

} // namespace

std::unique_ptr<scs::Bundle> make_bundle(Services& services, const std::shared_ptr<const Packet>& packet,
                                         const Bundle& source, const Endpoint& from) {
    auto bundle = std::make_unique<scs::Bundle>();
    bundle->time = is_immediate(source.time) ? immediately : source.time;
    append_all(services, packet, source.messages, from, *bundle, 0);
    return bundle;
}

std::unique_ptr<scs::Bundle> make_late_done(std::string_view name, const Endpoint& to) {
    auto bundle = std::make_unique<scs::Bundle>();
    bundle->append(new LateDone(name, to));
    return bundle;
}

} // namespace scs::osc

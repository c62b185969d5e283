// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"
#include "engine/plugins/commands.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "osc/argument-bytes.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"
#include "osc/reply-to.hpp"

#include <algorithm>

namespace scs::osc {

namespace {

std::span<const Arg> behind(std::span<const Arg> args, size_t count) {
    return args.subspan(std::min(count, args.size()));
}

/// A command whose arguments, from some on, are for a plugin to read.
class PluginCall : public OscCommand {
public:
    PluginCall(CommandInit&& init, size_t own_arguments)
        : OscCommand(std::move(init)), arguments_(behind(message().args, own_arguments)) {}

    bool calls_plugin() const noexcept final { return true; }

protected:
    std::span<const std::byte> arguments() const noexcept { return arguments_.get(); }

private:
    ArgumentBytes arguments_;
};

/// /cmd name, arguments
class RunPluginCommand final : public PluginCall {
public:
    explicit RunPluginCommand(CommandInit&& init)
        : PluginCall(std::move(init), 1), name_(args().get_string()), command_(find_plugin_command(name_)) {}

    Outcome run(Engine& engine) noexcept override {
        const bool well = command_ && run_plugin_command(engine.world(), name_, *command_, arguments(),
                                                         to_reply_to(from(), services().outlet));
        return ended(well ? Status{} : Status{Code::failed}, engine);
    }

private:
    std::string_view name_;
    const PluginCommand* command_;
};

/// /u_cmd node, unit's index, name, arguments
class RunUnitCommand final : public PluginCall {
public:
    explicit RunUnitCommand(CommandInit&& init) : PluginCall(std::move(init), 3) {}

    Outcome run(Engine& engine) noexcept override { return ended(run_it(engine), engine); }

private:
    Status run_it(Engine& engine) noexcept {
        ArgReader args = this->args();
        const NodeArg node = read_node(args, engine.tree());
        if (!node.synth())
            return {Code::node_not_found, node.id};
        const int64_t unit = args.get_int();
        return engine.tree().unit_command(*node.synth(), unit, args.get_string(), arguments(),
                                          to_reply_to(from(), services().outlet));
    }
};

constexpr CommandSpec commands[] = {
    {.number = 4, .name = "/cmd", .make = make_command<RunPluginCommand>},
    {.number = 20, .name = "/u_cmd", .make = make_command<RunUnitCommand>},
};

} // namespace

std::span<const CommandSpec> plugin_commands() {
    return commands;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"

#include <string_view>

namespace scs::osc {

namespace {

Status not_found(const NodeArg& arg) noexcept {
    return {Code::node_not_found, arg.id};
}

Status n_free(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    while (args.remain() > 0) {
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return not_found(arg);
        if (arg.node != &engine.tree().root())
            engine.tree().free(*arg.node);
    }
    return {};
}

Status n_run(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    while (args.remain() > 0) {
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return not_found(arg);
        engine.tree().set_run(*arg.node, args.get_int() != 0);
    }
    return {};
}

Status n_set(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    while (args.remain() >= 8) {
        const ControlArg control = read_control(args);
        read_values(args, engine.tree(), *arg.node, control, UnknownText::keeps_place);
    }
    return {};
}

Status n_setn(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    while (args.remain() > 0) {
        const ControlArg control = read_control(args);
        read_counted_values(args, engine.tree(), *arg.node, control);
    }
    return {};
}

Status n_fill(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    while (args.remain() >= 12) {
        const ControlArg control = read_control(args);
        const Offsets offsets = clip_offsets(*arg.node, control, args.get_int());
        const BusText bus = args.at_string() ? parse_bus(args.get_string()) : BusText();
        const float value = bus.valid ? 0.0f : args.get_float();
        for (int64_t i = offsets.first; i < offsets.end; ++i) {
            if (bus.valid)
                map_control(engine.tree(), *arg.node, control, i, int64_t(bus.bus) + i, bus.audio);
            else
                set_control(engine.tree(), *arg.node, control, i, value);
        }
    }
    return {};
}

template <bool audio>
Status n_map(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    while (args.remain() >= 8) {
        const ControlArg control = read_control(args);
        map_control(engine.tree(), *arg.node, control, 0, args.get_int(), audio);
    }
    return {};
}

template <bool audio>
Status n_mapn(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    while (args.remain() >= 12) {
        const ControlArg control = read_control(args);
        const int64_t bus = args.get_int();
        const Offsets offsets = clip_offsets(*arg.node, control, args.get_int());
        for (int64_t i = offsets.first; i < offsets.end; ++i)
            map_control(engine.tree(), *arg.node, control, i, bus == -1 ? -1 : bus + i, audio);
    }
    return {};
}

Status n_query(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    while (args.remain() > 0) {
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return not_found(arg);
        engine.tree().tell(*arg.node, NodeChange::info);
    }
    return {};
}

/// Moves where scsynth moves and stays silent where it does nothing: the root, or a node beside itself.
Status move(Engine& engine, Node& node, AddAction action, Node& target, bool silent = false) noexcept {
    if (&node == &target || &node == &engine.tree().root())
        return {};
    if ((action == AddAction::before || action == AddAction::after) && &target == &engine.tree().root())
        return {};
    return engine.tree().move(node, action, target, !silent);
}

/// Pairs of a node and its target; pairs with a missing node are passed over. Of successive pairs with the same
/// node, only the last is carried out.
template <AddAction action>
Status n_beside(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    Node* node = nullptr;
    Node* target = nullptr;
    while (args.remain() > 0) {
        const NodeArg next_node = read_node(args, engine.tree());
        const NodeArg next_target = read_node(args, engine.tree());
        if (!next_node || !next_target)
            continue;
        if (node && node != next_node.node)
            if (const Status status = move(engine, *node, action, *target); !status)
                return status;
        node = next_node.node;
        target = next_target.node;
    }
    return node ? move(engine, *node, action, *target) : Status{};
}

void warn_of_missing_node(Engine& engine) noexcept {
    constexpr std::string_view text = "Warning Node not found";
    engine.print(text.data(), text.size());
}

Status n_order(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const int32_t number = args.get_int();
    if (number < 0 || number > 3)
        return {Code::failed};
    auto action = static_cast<AddAction>(number);
    const NodeArg target = read_node(args, engine.tree());
    const bool inside = action == AddAction::head || action == AddAction::tail;
    if (inside && !target.group())
        return {Code::group_not_found, target.id};
    if (!target)
        return {Code::target_not_found, target.id};

    Node* beside = target.node;
    bool any = false;
    int32_t last_id = target.id;
    while (args.remain() > 0) {
        const NodeArg arg = read_node(args, engine.tree());
        last_id = arg.id;
        if (!arg) {
            warn_of_missing_node(engine);
            continue;
        }
        // As in scsynth, being moved to an end of the group that it is in already isn't told of the first node.
        const bool silent = !any && inside && arg.node->parent == beside;
        if (const Status status = move(engine, *arg.node, action, *beside, silent); !status)
            return status;
        beside = arg.node;
        action = AddAction::after;
        any = true;
    }
    return any ? Status{} : Status{Code::node_not_found, last_id};
}

Status n_trace(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    while (args.remain() > 0) {
        const NodeArg node = read_node(args, engine.tree());
        if (!node)
            return {Code::node_not_found, node.id};
        engine.tree().trace(*node.node);
    }
    return {};
}

constexpr CommandSpec commands[] = {
    {10, "/n_trace", "", n_trace},
    {11, "/n_free", "", n_free},
    {12, "/n_run", "", n_run},
    {13, "/n_cmd"},
    {14, "/n_map", "", n_map<false>},
    {15, "/n_set", "", n_set},
    {16, "/n_setn", "", n_setn},
    {17, "/n_fill", "", n_fill},
    {18, "/n_before", "", n_beside<AddAction::before>},
    {19, "/n_after", "", n_beside<AddAction::after>},
    {46, "/n_query", "", n_query},
    {48, "/n_mapn", "", n_mapn<false>},
    {60, "/n_mapa", "", n_map<true>},
    {61, "/n_mapan", "", n_mapn<true>},
    {62, "/n_order", "", n_order},
};

} // namespace

std::span<const CommandSpec> node_commands() {
    return commands;
}

} // namespace scs::osc

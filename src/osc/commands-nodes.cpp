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

/// A command whose first argument is a node: `carry_out` reads the others.
template <void carry_out(Tree&, Node&, ArgReader&) noexcept>
Status of_node(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (!arg)
        return not_found(arg);
    carry_out(engine.tree(), *arg.node, args);
    return {};
}

/// A command with a list of nodes, each followed by what `carry_out` reads. Ends at the first missing node.
template <void carry_out(Tree&, Node&, ArgReader&) noexcept>
Status of_each_node(OscCommand& command, Engine& engine) noexcept {
    ArgReader args = command.args();
    while (args.remain() > 0) {
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return not_found(arg);
        carry_out(engine.tree(), *arg.node, args);
    }
    return {};
}

void n_free(Tree& tree, Node& node, ArgReader&) noexcept {
    if (&node != &tree.root())
        tree.free(node);
}

void n_run(Tree& tree, Node& node, ArgReader& args) noexcept {
    tree.set_run(node, args.get_int() != 0);
}

void n_query(Tree& tree, Node& node, ArgReader&) noexcept {
    tree.notify(node, NodeChange::info);
}

void n_trace(Tree& tree, Node& node, ArgReader&) noexcept {
    tree.trace(node);
}

void n_set(Tree& tree, Node& node, ArgReader& args) noexcept {
    while (args.remain() >= 8) {
        const ControlArg control = read_control(args);
        read_values(args, tree, node, control, UnknownText::keeps_place);
    }
}

void n_setn(Tree& tree, Node& node, ArgReader& args) noexcept {
    while (args.remain() > 0) {
        const ControlArg control = read_control(args);
        read_counted_values(args, tree, node, control);
    }
}

void n_fill(Tree& tree, Node& node, ArgReader& args) noexcept {
    while (args.remain() >= 12) {
        const ControlArg control = read_control(args);
        const Offsets offsets = clip_offsets(node, control, args.get_int());
        const BusText bus = args.at_string() ? parse_bus(args.get_string()) : BusText();
        const float value = bus.valid ? 0.0f : args.get_float();
        for (int64_t i = offsets.first; i < offsets.end; ++i) {
            if (bus.valid)
                map_control(tree, node, control, i, int64_t(bus.bus) + i, bus.audio);
            else
                set_control(tree, node, control, i, value);
        }
    }
}

template <bool audio>
void n_map(Tree& tree, Node& node, ArgReader& args) noexcept {
    while (args.remain() >= 8) {
        const ControlArg control = read_control(args);
        map_control(tree, node, control, 0, args.get_int(), audio);
    }
}

template <bool audio>
void n_mapn(Tree& tree, Node& node, ArgReader& args) noexcept {
    while (args.remain() >= 12) {
        const ControlArg control = read_control(args);
        const int64_t bus = args.get_int();
        const Offsets offsets = clip_offsets(node, control, args.get_int());
        for (int64_t i = offsets.first; i < offsets.end; ++i)
            map_control(tree, node, control, i, bus == -1 ? -1 : bus + i, audio);
    }
}

/// Moves a node; what scsynth ignores without a failure is ignored here too: moving the root, or a node beside itself.
Status move(Engine& engine, Node& node, AddAction action, Node& target, bool silent = false) noexcept {
    if (&node == &target || &node == &engine.tree().root())
        return {};
    if ((action == AddAction::before || action == AddAction::after) && &target == &engine.tree().root())
        return {};
    return engine.tree().move(node, action, target, !silent);
}

/// Pairs of a node and its target; pairs with a missing node are skipped. Of successive pairs with the same node only
/// the last is carried out.
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
            if (const Status status = move(engine, *node, action, *target); status.failed())
                return status;
        node = next_node.node;
        target = next_target.node;
    }
    return node ? move(engine, *node, action, *target) : Status{};
}

void warn_of_missing_node(Engine& engine) noexcept {
    constexpr std::string_view text = "Warning Node not found";
    engine.outbox().print(text);
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
        // As in scsynth: no /n_move for the first node if it was in that group already.
        const bool silent = !any && inside && arg.node->parent == beside;
        if (const Status status = move(engine, *arg.node, action, *beside, silent); status.failed())
            return status;
        beside = arg.node;
        action = AddAction::after;
        any = true;
    }
    return any ? Status{} : Status{Code::node_not_found, last_id};
}

constexpr CommandSpec commands[] = {
    {.number = 10, .name = "/n_trace", .handler = of_each_node<n_trace>},
    {.number = 11, .name = "/n_free", .handler = of_each_node<n_free>},
    {.number = 12, .name = "/n_run", .handler = of_each_node<n_run>},
    {.number = 13, .name = "/n_cmd"},
    {.number = 14, .name = "/n_map", .handler = of_node<n_map<false>>},
    {.number = 15, .name = "/n_set", .handler = of_node<n_set>},
    {.number = 16, .name = "/n_setn", .handler = of_node<n_setn>},
    {.number = 17, .name = "/n_fill", .handler = of_node<n_fill>},
    {.number = 18, .name = "/n_before", .handler = n_beside<AddAction::before>},
    {.number = 19, .name = "/n_after", .handler = n_beside<AddAction::after>},
    {.number = 46, .name = "/n_query", .handler = of_each_node<n_query>},
    {.number = 48, .name = "/n_mapn", .handler = of_node<n_mapn<false>>},
    {.number = 60, .name = "/n_mapa", .handler = of_node<n_map<true>>},
    {.number = 61, .name = "/n_mapan", .handler = of_node<n_mapn<true>>},
    {.number = 62, .name = "/n_order", .handler = n_order},
};

} // namespace

std::span<const CommandSpec> node_commands() {
    return commands;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "engine/nodes/cluster.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"

#include <algorithm>
#include <string_view>

namespace scs::osc {

namespace {

Status not_found(const NodeArg& arg) noexcept {
    return {Code::node_not_found, arg.id};
}

constexpr int64_t set_cost = 60, node_cost = 200; // ns, estimates for the deadline

/// A command that sets or maps controls of a synth, or of each synth in a group. An item, a control and what it gets,
/// has at least `bytes`. `carry_out` does the one at Place::args, and moves on to the next; false: it has to be called
/// again.
template <size_t bytes, bool carry_out(Place&, Engine&, Synth&) noexcept>
Status of_controls(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader controls = command.args();
    const NodeArg arg = read_node(controls, engine.tree());
    if (!arg)
        return not_found(arg);
    Place& place = command.place();
    NodeWalk& walk = place.walk;
    if (!walk.node) {
        walk.node = arg.node;
        place.args = controls;
    }
    while (walk.node) {
        if (engine.out_of_time(set_cost))
            return command.unfinished();
        if (!walk.node->is_group)
            while (place.args.remain() >= bytes)
                if (!carry_out(place, engine, static_cast<Synth&>(*walk.node)))
                    return command.unfinished();
        place.args = controls;
        walk.step(*arg.node);
    }
    return {};
}

/// A command with a list of nodes, each followed by what `carry_out` reads. Ends at the first missing node. `carry_out`
/// returns false if it has to be called again with the same arguments.
template <bool carry_out(Tree&, Node&, ArgReader&, Place&) noexcept>
Status of_each_node(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    while (place.args.remain() > 0) {
        if (engine.out_of_time(node_cost))
            return command.unfinished();
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return not_found(arg);
        if (!carry_out(engine.tree(), *arg.node, args, place))
            return command.unfinished();
        place = {args};
    }
    return {};
}

bool n_free(Tree& tree, Node& node, ArgReader&, Place&) noexcept {
    return &node == &tree.root() || tree.freeing().free_in_time(node);
}

bool n_run(Tree& tree, Node& node, ArgReader& args, Place&) noexcept {
    tree.runs().set_run(node, args.get_int() != 0);
    return true;
}

bool n_query(Tree& tree, Node& node, ArgReader&, Place&) noexcept {
    tree.events().notify(node, NodeChange::info);
    return true;
}

bool n_trace(Tree& tree, Node& node, ArgReader&, Place& place) noexcept {
    return tree.trace(node, place.node);
}

bool n_set(Place& place, Engine& engine, Synth& synth) noexcept {
    return set_values(place, engine, synth, UnknownText::keeps_place);
}

/// Calls `carry_out` with each of the first `count` controls of a range, and its offset, that hasn't had its turn; then
/// the item is done, which ends at `behind`. Place::number is the next one's offset.
template <class F>
bool each_control(Place& place, Engine& engine, const ControlRange& controls, int64_t count, ArgReader behind,
                  F carry_out) noexcept {
    const int64_t end = std::min(count, controls.count);
    for (int64_t i = std::max({int64_t(0), -controls.first, place.number}); i < end; place.number = ++i) {
        if (engine.out_of_time(set_cost))
            return false;
        carry_out(controls.first + i, i);
    }
    place.args = behind;
    place.number = 0;
    return !engine.out_of_time(set_cost);
}

bool n_fill(Place& place, Engine& engine, Synth& synth) noexcept {
    ArgReader args = place.args;
    const ControlRange controls = find_controls(synth, read_control(args));
    const int32_t count = args.get_int();
    const BusText bus = args.at_string() ? parse_bus(args.get_string()) : BusText();
    const float value = bus.valid ? 0.0f : args.get_float();
    return each_control(place, engine, controls, count, args, [&](int64_t control, int64_t offset) {
        if (bus.valid)
            engine.tree().controls().map(synth, control, bus.bus + offset, bus.audio);
        else
            engine.tree().controls().set(synth, control, value);
    });
}

template <bool audio>
bool n_map(Place& place, Engine& engine, Synth& synth) noexcept {
    if (engine.out_of_time(set_cost))
        return false;
    const ControlRange controls = find_controls(synth, read_control(place.args));
    const int32_t bus = place.args.get_int();
    if (controls.count > 0)
        engine.tree().controls().map(synth, controls.first, bus, audio);
    return true;
}

template <bool audio>
bool n_mapn(Place& place, Engine& engine, Synth& synth) noexcept {
    ArgReader args = place.args;
    const ControlRange controls = find_controls(synth, read_control(args));
    const int64_t bus = args.get_int();
    const int32_t count = args.get_int();
    return each_control(place, engine, controls, count, args, [&](int64_t control, int64_t offset) {
        engine.tree().controls().map(synth, control, bus == -1 ? -1 : bus + offset, audio);
    });
}

/// Moves a node; what scsynth ignores without a failure is ignored here too: moving the root, or a node beside itself.
/// false: there was no time for it.
bool move(Engine& engine, Node& node, AddAction action, Node& target, Place& place, Status& status,
          bool silent = false) noexcept {
    if (&node == &target || &node == &engine.tree().root())
        return true;
    if ((action == AddAction::before || action == AddAction::after) && &target == &engine.tree().root())
        return true;
    return engine.tree().move_in_time(node, action, target, place.walk.node, status, !silent);
}

/// Pairs of a node and its target; pairs with a missing node are skipped. Of successive pairs with the same node only
/// the last is carried out, so each waits for the next one, in Place::node and Place::other.
template <AddAction action>
Status n_beside(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    Status status;
    while (place.args.remain() > 0) {
        if (engine.out_of_time(node_cost))
            return command.unfinished();
        ArgReader args = place.args;
        const NodeArg node = read_node(args, engine.tree());
        const NodeArg target = read_node(args, engine.tree());
        if (node && target) {
            if (place.node && place.node != node.node &&
                !move(engine, *place.node, action, *place.other, place, status))
                return command.unfinished();
            if (status.failed())
                return status;
            place.node = node.node;
            place.other = target.node;
        }
        place.args = args;
    }
    if (place.node && !move(engine, *place.node, action, *place.other, place, status))
        return command.unfinished();
    return status;
}

void warn_of_missing_node(Engine& engine) noexcept {
    constexpr std::string_view text = "Warning Node not found";
    engine.outbox().complain(text);
}

/// An action, a target and the nodes that go there, one after the other. Place::node is the last that was moved.
Status n_order(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    const int32_t number = args.get_int();
    if (number < 0 || number > 3)
        return {Code::failed};
    const auto action = static_cast<AddAction>(number);
    const NodeArg target = read_node(args, engine.tree());
    Place& place = command.place();
    const bool inside = action == AddAction::head || action == AddAction::tail;
    if (place.number == 0) {
        if (inside && !target.group())
            return {Code::group_not_found, target.id};
        if (!target)
            return {Code::target_not_found, target.id};
        place = {.args = args, .number = 1};
    }

    int32_t last_id = target.id;
    while (place.args.remain() > 0) {
        if (engine.out_of_time(node_cost))
            return command.unfinished();
        args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        last_id = arg.id;
        if (!arg) {
            warn_of_missing_node(engine);
            place.args = args;
            continue;
        }
        Node* const before = place.node;
        // As in scsynth: no /n_move for the first node if it was in that group already.
        const bool silent = !before && inside && seen_parent(*arg.node) == target.node;
        Status status;
        if (before ? !move(engine, *arg.node, AddAction::after, *before, place, status)
                   : !move(engine, *arg.node, action, *target.node, place, status, silent))
            return command.unfinished();
        if (status.failed())
            return status;
        place.node = arg.node;
        place.args = args;
    }
    return place.node ? Status{} : Status{Code::node_not_found, last_id};
}

constexpr CommandSpec commands[] = {
    {.number = 10, .name = "/n_trace", .handler = of_each_node<n_trace>},
    {.number = 11, .name = "/n_free", .handler = of_each_node<n_free>, .bindable = true},
    {.number = 12, .name = "/n_run", .handler = of_each_node<n_run>, .bindable = true},
    {.number = 13, .name = "/n_cmd"},
    {.number = 14, .name = "/n_map", .handler = of_controls<8, n_map<false>>, .bindable = true},
    {.number = 15, .name = "/n_set", .handler = of_controls<8, n_set>, .bindable = true},
    {.number = 16, .name = "/n_setn", .handler = of_controls<1, set_counted_values>, .bindable = true},
    {.number = 17, .name = "/n_fill", .handler = of_controls<12, n_fill>, .bindable = true},
    {.number = 18, .name = "/n_before", .handler = n_beside<AddAction::before>, .bindable = true},
    {.number = 19, .name = "/n_after", .handler = n_beside<AddAction::after>, .bindable = true},
    {.number = 46, .name = "/n_query", .handler = of_each_node<n_query>},
    {.number = 48, .name = "/n_mapn", .handler = of_controls<12, n_mapn<false>>, .bindable = true},
    {.number = 60, .name = "/n_mapa", .handler = of_controls<8, n_map<true>>, .bindable = true},
    {.number = 61, .name = "/n_mapan", .handler = of_controls<12, n_mapn<true>>, .bindable = true},
    {.number = 62, .name = "/n_order", .handler = n_order, .bindable = true},
};

} // namespace

std::span<const CommandSpec> node_commands() {
    return commands;
}

} // namespace scs::osc

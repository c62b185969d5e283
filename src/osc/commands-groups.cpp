// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/base/text-line.hpp"
#include "engine/engine.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/tree/controls.hpp"
#include "osc/command-table.hpp"
#include "osc/control-texts.hpp"
#include "osc/node-args.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace scs::osc {

namespace {

constexpr int64_t node_cost = 200, line_cost = 1000; // ns, estimates for the deadline

Status not_found(const NodeArg& arg) noexcept {
    return {Code::group_not_found, arg.id};
}

/// Whether the group exists already, right where it was asked for: then /n_go is sent again, and it is no failure.
bool stands_there(Engine& engine, int32_t id, AddAction action, const Node& target) noexcept {
    const Group* group = engine.tree().find_group(id);
    if (!group || !group->parent || action == AddAction::replace)
        return false;
    return seen_parent(*group) == (goes_into(action) ? &target : seen_parent(target));
}

/// /g_new, or /p_new, whose groups run like any other.
template <bool parallel>
Status g_new(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader& args = command.place().args;
    while (args.remain() > 0) {
        if (engine.out_of_time(node_cost))
            return command.unfinished();
        const int32_t id = args.get_int();
        const int32_t number = args.get_int();
        if (!valid_add_action(number))
            return {Code::failed};
        const auto action = static_cast<AddAction>(number);
        const NodeArg target = read_node(args, engine.tree());
        if (goes_into(action) && !target.group())
            return not_found(target);
        if (!target)
            return {Code::target_not_found, target.id};
        Group* made = nullptr;
        const Status status = engine.tree().new_group(id, action, target.node->id, made, parallel);
        if (status.code == Code::duplicate_node_id && stands_there(engine, id, action, *target.node))
            engine.tree().events().notify(*engine.tree().find_group(id), NodeChange::go);
        else if (status.failed())
            return status;
    }
    return {};
}

template <AddAction action>
Status g_move(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    while (place.args.remain() > 0) {
        if (engine.out_of_time(node_cost))
            return command.unfinished();
        ArgReader args = place.args;
        const NodeArg group = read_node(args, engine.tree());
        if (!group.group())
            return not_found(group);
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg)
            return {Code::node_not_found, arg.id};
        Status status;
        if (arg.node != &engine.tree().root() &&
            !engine.tree().move_in_time(*arg.node, action, *group.node, place.walk.node, status))
            return command.unfinished();
        if (status.failed())
            return status;
        place.args = args;
    }
    return {};
}

bool free_all(Tree& tree, Group& group, Place&) noexcept {
    return tree.freeing().free_all_in_time(group);
}

bool deep_free(Tree& tree, Group& group, Place& place) noexcept {
    return tree.freeing().deep_free_in_time(group, place.walk);
}

/// `free`: false if there was no time for all of it.
template <bool free(Tree&, Group&, Place&) noexcept>
Status g_free(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    while (place.args.remain() > 0) {
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        if (!arg.group())
            return not_found(arg);
        if (!free(engine.tree(), *arg.group(), place))
            return command.unfinished();
        place = {args};
    }
    return {};
}

void query_node(ReplyWriter& reply, const Node& node) noexcept {
    reply.add(node.id);
    if (node.is_group) {
        reply.add(static_cast<const Group&>(node).children);
        return;
    }
    reply.add(int32_t(-1));
    reply.add(std::string_view(static_cast<const Synth&>(node).definition->program->name));
}

Status g_query_tree(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    while (place.args.remain() > 0 && !reply.overflowed()) {
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        Group* group = arg.group();
        if (!group)
            return not_found(arg);
        const bool controls = args.get_int() != 0;
        NodeWalk& walk = place.walk;
        if (!walk.node) {
            reply.begin("/g_queryTree.reply");
            reply.add(int32_t(controls));
            walk.node = group;
        }
        while (walk.node && !reply.overflowed()) {
            if (engine.out_of_time(node_cost))
                return command.unfinished();
            if (!walk.behind && place.number == 0 && !as_cluster(walk.node))
                query_node(reply, *walk.node);
            if (controls && !walk.node->is_group &&
                !add_controls(engine, reply, static_cast<Synth&>(*walk.node), place.number))
                return command.unfinished();
            walk.step(*group);
        }
        place = {args};
    }
    return {};
}

size_t g_query_tree_room(ArgReader args) noexcept {
    constexpr size_t most_groups = 16;
    return max_reply_bytes * std::clamp<size_t>(args.remain() / 8, 1, most_groups);
}

bool dump_controls(Engine& engine, const Synth& synth, int depth) noexcept {
    TextLine line;
    line.indent(depth);
    ControlNames names(*synth.definition->program, 0);
    for (int i = 0; i < control_count(synth) && !line.full(); ++i) {
        const std::string_view name = names.at(uint32_t(i));
        if (!name.empty())
            line.add(" %.*s:", int(name.size()), name.data());
        char buffer[16];
        const std::string_view mapping = mapping_text(synth, i, buffer);
        if (mapping.empty())
            line.add(" %.14g", double(control(synth, i)));
        else
            line.add(" %.*s", int(mapping.size()), mapping.data());
    }
    return engine.outbox().print(line.take());
}

const char* kind_of(const Node& group) noexcept {
    return static_cast<const Group&>(group).parallel ? "parallel group" : "group"; // supernova's words
}

/// Prints a tree, line by line, until all is there or the log can take no more (then `room` becomes false). One pass:
/// the deepest tree takes no longer than another of as many nodes. Place::number is the depth. false: there was no time
/// for all of it.
bool dump_tree(Engine& engine, Group& group, bool controls, Place& place, bool& room) noexcept {
    TextLine line;
    NodeWalk& walk = place.walk;
    if (!walk.node) {
        line.add("NODE TREE Group %d", group.id);
        room = engine.outbox().print(line.take());
        walk.node = &group;
    }
    while (walk.node && room) {
        const bool named = !walk.behind && walk.node != &group && !as_cluster(walk.node);
        if (engine.out_of_time(named ? line_cost : node_cost))
            return false;
        const Node& node = *walk.node;
        const int depth = int(place.number);
        if (named) {
            const Synth* synth = node.is_group ? nullptr : &static_cast<const Synth&>(node);
            line.indent(depth);
            line.add("%d %s", node.id, synth ? synth->definition->program->name.c_str() : kind_of(node));
            room = engine.outbox().print(line.take());
            if (controls && room && synth && control_count(*synth) > 0)
                room = dump_controls(engine, *synth, depth + 1);
        }
        place.number += walk.step(group);
    }
    return true;
}

Status g_dump_tree(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    while (place.args.remain() > 0) {
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        Group* group = arg.group();
        if (!group)
            return not_found(arg);
        bool room = true;
        if (!dump_tree(engine, *group, args.get_int() != 0, place, room))
            return command.unfinished();
        if (!room)
            return {Code::buffer_overflow};
        place = {args};
    }
    return {};
}

constexpr CommandSpec commands[] = {
    {.number = 21, .name = "/g_new", .handler = g_new<false>, .bindable = true},
    {.number = 22, .name = "/g_head", .handler = g_move<AddAction::head>, .bindable = true},
    {.number = 23, .name = "/g_tail", .handler = g_move<AddAction::tail>, .bindable = true},
    {.number = 24, .name = "/g_freeAll", .handler = g_free<free_all>, .bindable = true},
    {.number = 50, .name = "/g_deepFree", .handler = g_free<deep_free>, .bindable = true},
    {.number = 56, .name = "/g_dumpTree", .handler = g_dump_tree},
    {.number = 57, .name = "/g_queryTree", .handler = g_query_tree, .reply_room = g_query_tree_room},
    {.number = 63, .name = "/p_new", .handler = g_new<true>},
};

} // namespace

std::span<const CommandSpec> group_commands() {
    return commands;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/base/text-line.hpp"
#include "engine/engine.hpp"
#include "engine/tree/controls.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"

#include <algorithm>
#include <string_view>

namespace scs::osc {

namespace {

constexpr int64_t set_cost = 60, value_cost = 30; // ns, estimates for the deadline
constexpr int64_t values_at_once = 64;

/// Sets the controls of a synth that was made, from Place::args on.
Status read_arguments(OscCommand& command, Engine& engine, Synth& synth, bool counted) noexcept {
    Place& place = command.place();
    while (place.args.remain() >= (counted ? 1u : 8u))
        if (!(counted ? set_counted_values(place, engine, synth)
                      : set_values(place, engine, synth, UnknownText::takes_place)))
            return command.unfinished();
    return {};
}

/// The argument that says how a synth stands to its target: an add action, or a satellite's relation. False: it is
/// none.
bool read_action(ArgReader& args, bool satellite, AddAction& action) noexcept {
    const int32_t number = args.get_int();
    if (satellite)
        action = number == 0 ? AddAction::preceding : AddAction::succeeding;
    else
        action = static_cast<AddAction>(number);
    return satellite ? number == 0 || number == 1 : valid_add_action(number);
}

/// Makes the synth of an /s_new or a /sat_new, puts it into Place::node, and leaves Place::args at its controls.
Status make_synth(OscCommand& command, Engine& engine, bool satellite) noexcept {
    ArgReader& args = command.place().args;
    const std::string_view name = args.get_string();
    const int32_t id = args.get_int();
    AddAction action;
    const bool valid = read_action(args, satellite, action);
    const Definitions::Found found = engine.definitions().find_variant(name);
    if (!found.definition) {
        TextLine line; // as in scsynth the only one that names it
        line.add("*** ERROR: SynthDef %.*s not found", int(std::min<size_t>(name.size(), 256)), name.data());
        engine.outbox().complain(line.take());
        return {Code::synthdef_not_found};
    }
    if (!valid)
        return satellite ? command.fail("a satellite's relation is 0 (preceding) or 1 (succeeding)")
                         : Status{Code::failed};
    const NodeArg target = read_node(args, engine.tree());
    if (goes_into(action) && !target.group())
        return {Code::group_not_found, target.id};
    if (!target)
        return {Code::node_not_found, target.id};

    Synth* synth = nullptr;
    const Status status = engine.tree().new_synth(*found.definition, found.values, id, action, target.node->id, synth);
    command.place().node = synth;
    return status;
}

/// /s_new, or with counted values /s_newargs, or /sat_new.
template <bool counted, bool satellite = false>
Status s_new(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    if (!command.place().node)
        if (const Status status = make_synth(command, engine, satellite); status.failed())
            return status;
    return read_arguments(command, engine, static_cast<Synth&>(*command.place().node), counted);
}

/// The value of the control that is `offset` after the first of these; 0 if the synth doesn't have it.
float control_value(const Synth& synth, const ControlRange& controls, int64_t offset) noexcept {
    const int64_t index = controls.first + offset;
    const bool there = offset < controls.count && index >= 0 && index < control_count(synth);
    return there ? scs::control(synth, int(index)) : 0.0f;
}

void add_control(ReplyWriter& reply, const ControlArg& control) noexcept {
    if (control.named)
        reply.add(control.name);
    else
        reply.add(int32_t(control.index));
}

/// Begins the reply about a synth's controls in the first call, with Place::args after the synth's ID and Place::end
/// set. Returns the synth in each call.
NodeArg begin_values(OscCommand& command, Engine& engine, const char* address) noexcept {
    ArgReader args = command.args();
    const NodeArg arg = read_node(args, engine.tree());
    if (arg.synth() && command.place().end == 0) {
        command.place() = {.args = args, .end = 1};
        command.reply().begin(address);
        command.reply().add(arg.node->id);
    }
    return arg;
}

Status s_get(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    const NodeArg arg = begin_values(command, engine, "/n_set");
    if (!arg.synth())
        return {Code::node_not_found, arg.id};
    ReplyWriter& reply = command.reply();
    while (place.args.remain() >= 4 && !reply.overflowed()) {
        if (engine.out_of_time(set_cost))
            return command.unfinished();
        const ControlArg control = read_control(place.args);
        add_control(reply, control);
        reply.add(control_value(*arg.synth(), find_controls(*arg.synth(), control), 0));
    }
    return {};
}

size_t s_get_room(ArgReader args) noexcept {
    return std::min(reply_bytes(1, 2 * args.remain() / 4 + 1, 2 * args.remain()), max_reply_bytes);
}

Status s_getn(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    const NodeArg arg = begin_values(command, engine, "/n_setn");
    if (!arg.synth())
        return {Code::node_not_found, arg.id};
    ReplyWriter& reply = command.reply();
    while (place.args.remain() > 0 && !reply.overflowed()) {
        if (engine.out_of_time(set_cost))
            return command.unfinished();
        ArgReader args = place.args;
        const ControlArg control = read_control(args);
        const int32_t count = args.get_int();
        const ControlRange controls = find_controls(*arg.synth(), control);
        if (place.number == 0) {
            add_control(reply, control);
            reply.add(count);
        }
        for (; place.number < count && !reply.overflowed(); ++place.number) {
            if (place.number % values_at_once == values_at_once - 1 && engine.out_of_time(values_at_once * value_cost))
                return command.unfinished();
            reply.add(control_value(*arg.synth(), controls, place.number));
        }
        place = {.args = args, .end = place.end};
    }
    return {};
}

size_t s_getn_room(ArgReader args) noexcept {
    size_t values = 0;
    const size_t text = args.remain();
    for (; args.tag(); values += 2)
        values += size_t(std::clamp(args.get_int(), 0, int32_t(max_reply_bytes)));
    return std::min(reply_bytes(1, values + 2, text), max_reply_bytes);
}

Status s_noid(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader& args = command.place().args;
    while (args.remain() > 0) {
        if (engine.out_of_time(2 * set_cost))
            return command.unfinished();
        const NodeArg arg = read_node(args, engine.tree());
        if (Synth* synth = arg.synth())
            if (const Status status = engine.tree().hide_id(*synth); status.failed())
                return status;
    }
    return {};
}

constexpr CommandSpec commands[] = {
    {.number = 9, .name = "/s_new", .types = "s", .handler = s_new<false>, .plays = true, .bindable = true},
    {.number = 44, .name = "/s_get", .handler = s_get, .reply_room = s_get_room},
    {.number = 45, .name = "/s_getn", .handler = s_getn, .reply_room = s_getn_room},
    {.number = 49, .name = "/s_noid", .handler = s_noid, .bindable = true},
    {.name = "/sat_new", .types = "s", .handler = s_new<false, true>, .plays = true, .bindable = true},
    {.number = 59, .name = "/s_newargs", .types = "s", .handler = s_new<true>, .plays = true, .bindable = true},
};

} // namespace

std::span<const CommandSpec> synth_commands() {
    return commands;
}

} // namespace scs::osc

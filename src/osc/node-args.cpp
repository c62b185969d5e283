// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/node-args.hpp"

#include "engine/engine.hpp"
#include "engine/nodes/cluster.hpp"

namespace scs::osc {

namespace {

Node* step(Node& from, char direction) noexcept {
    switch (direction) {
    case 'h': return from.is_group ? seen_head(static_cast<Group&>(from)) : nullptr;
    case 't': return from.is_group ? seen_tail(static_cast<Group&>(from)) : nullptr;
    case 'u': return seen_parent(from);
    case 'p': return seen_previous(from);
    case 'n': return seen_next(from);
    default: return &from;
    }
}

} // namespace

NodeArg read_node(ArgReader& args, Tree& tree) noexcept {
    constexpr size_t most_steps = 1000; // a limit on the time
    const std::string_view steps = args.at_string() ? args.get_string() : std::string_view();
    NodeArg result;
    result.id = args.get_int();
    result.node = steps.size() <= most_steps ? tree.find(result.id) : nullptr;
    for (size_t i = 0; i < steps.size() && result.node; ++i)
        result.node = step(*result.node, steps[i]);
    return result;
}

ControlArg read_control(ArgReader& args) noexcept {
    ControlArg control;
    control.named = args.at_string();
    if (control.named)
        control.name = args.get_string();
    else
        control.index = args.get_int();
    return control;
}

BusText parse_bus(std::string_view text) noexcept {
    BusText result;
    if (text.empty() || (text[0] != 'c' && text[0] != 'a'))
        return result;
    result.valid = true;
    result.audio = text[0] == 'a';
    SCS_UNPROVEN_BEGIN // it neither allocates nor locks
    std::from_chars(text.data() + 1, text.data() + text.size(), result.bus);
    SCS_UNPROVEN_END
    return result;
}

ControlRange find_controls(const Synth& synth, const ControlArg& control) noexcept {
    if (control.named)
        return controls_named(synth, control.name);
    return {control.index, control_count(synth) - control.index};
}

namespace {

constexpr int64_t set_cost = 60, skip_cost = 5; // ns, estimates for the deadline

} // namespace

// While an item is half done, Place::within is what is left of it, Place::number the offset of the next value, and
// Place::end 1 more than the number of open brackets, or than the count of values.

bool set_values(Place& place, Engine& engine, Synth& synth, UnknownText text) noexcept {
    Tree& tree = engine.tree();
    const WhenSet when = text == UnknownText::takes_place ? WhenSet::at_start : WhenSet::later; // as in /s_new, /n_set
    ArgReader args = place.args;
    const ControlRange controls = find_controls(synth, read_control(args));
    int64_t offset = 0, depth = 0;
    if (place.end > 0) {
        args = place.within;
        offset = place.number;
        depth = place.end - 1;
    }
    do {
        const bool counts = offset < controls.count;
        if (engine.out_of_time(counts ? set_cost : skip_cost)) {
            place.within = args;
            place.number = offset;
            place.end = depth + 1;
            return false;
        }
        switch (args.tag()) {
        case '[':
            ++depth;
            args.skip();
            break;
        case ']':
            --depth;
            args.skip();
            break;
        case 's': {
            const BusText bus = parse_bus(args.get_string());
            if (bus.valid && counts)
                tree.controls().map(synth, controls.first + offset, bus.bus, bus.audio);
            if (bus.valid || text == UnknownText::takes_place)
                ++offset;
            break;
        }
        case 'i':
        case 'f':
        case 'd':
            if (counts)
                tree.controls().set(synth, controls.first + offset, args.get_float(), when);
            else
                args.skip();
            ++offset;
            break;
        default: args.skip();
        }
    } while (depth > 0 && args.tag());
    place.args = args;
    place.number = place.end = 0;
    return true;
}

bool set_counted_values(Place& place, Engine& engine, Synth& synth) noexcept {
    Tree& tree = engine.tree();
    ArgReader args = place.args;
    const ControlRange controls = find_controls(synth, read_control(args));
    if (place.end > 0)
        args = place.within;
    else
        place.end = 1 + int64_t(std::max(args.get_int(), 0));
    for (; place.number < place.end - 1 && args.remain() > 0; ++place.number) {
        const bool counts = place.number < controls.count;
        if (engine.out_of_time(counts ? set_cost : skip_cost)) {
            place.within = args;
            return false;
        }
        if (!counts) {
            args.skip();
            continue;
        }
        if (!args.at_string()) {
            tree.controls().set(synth, controls.first + place.number, args.get_float(), WhenSet::at_start);
            continue;
        }
        const BusText bus = parse_bus(args.get_string());
        if (bus.valid)
            tree.controls().map(synth, controls.first + place.number, bus.bus, bus.audio);
    }
    place.args = args;
    place.number = place.end = 0;
    return true;
}

} // namespace scs::osc

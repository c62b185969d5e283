// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/node-args.hpp"

#include "engine/definitions/definitions.hpp"

namespace scs::osc {

namespace {

Node* step(Node& from, char direction) noexcept {
    switch (direction) {
    case 'h': return from.is_group ? static_cast<Group&>(from).head : nullptr;
    case 't': return from.is_group ? static_cast<Group&>(from).tail : nullptr;
    case 'u': return from.parent;
    case 'p': return from.previous;
    case 'n': return from.next;
    default: return &from;
    }
}

} // namespace

NodeArg read_node(ArgReader& args, Tree& tree) noexcept {
    const std::string_view steps = args.at_string() ? args.get_string() : std::string_view();
    NodeArg result;
    result.id = args.get_int();
    result.node = tree.find(result.id);
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
    std::from_chars(text.data() + 1, text.data() + text.size(), result.bus);
    return result;
}

void set_control(Tree& tree, Synth& synth, const ControlArg& control, int64_t offset, float value) noexcept {
    if (control.named)
        tree.set_control(synth, control.name, offset, value);
    else
        tree.set_control(synth, control.index + offset, value);
}

void map_control(Tree& tree, Synth& synth, const ControlArg& control, int64_t offset, int64_t bus,
                 bool audio) noexcept {
    if (control.named)
        tree.map_control(synth, control.name, offset, bus, audio);
    else
        tree.map_control(synth, control.index + offset, bus, audio);
}

Node* next_in(const Group& top, Node& node, int& depth) noexcept {
    if (node.is_group && static_cast<Group&>(node).head) {
        ++depth;
        return static_cast<Group&>(node).head;
    }
    for (Node* n = &node; n && n != &top; n = n->parent, --depth)
        if (n->next)
            return n->next;
    return nullptr;
}

Node* next_in(const Group& top, Node& node) noexcept {
    int depth = 0;
    return next_in(top, node, depth);
}

Synth* first_synth(Node& top) noexcept {
    if (!top.is_group)
        return static_cast<Synth*>(&top);
    Node* node = static_cast<Group&>(top).head;
    while (node && node->is_group)
        node = next_in(static_cast<Group&>(top), *node);
    return static_cast<Synth*>(node);
}

Synth* next_synth(Node& top, Synth& synth) noexcept {
    if (!top.is_group)
        return nullptr;
    Node* node = &synth;
    do
        node = next_in(static_cast<Group&>(top), *node);
    while (node && node->is_group);
    return static_cast<Synth*>(node);
}

Offsets clip_offsets(const Synth& synth, const ControlArg& control, int64_t count) noexcept {
    const int64_t index = control.named ? 0 : control.index;
    return {std::max<int64_t>(0, -index), std::min(count, int64_t(synth.definition->program->controls.size()) - index)};
}

int64_t read_values(ArgReader& args, Tree& tree, Synth& synth, const ControlArg& control, UnknownText text) noexcept {
    int64_t offset = 0;
    int depth = 0;
    do {
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
            if (bus.valid)
                map_control(tree, synth, control, offset, bus.bus, bus.audio);
            if (bus.valid || text == UnknownText::takes_place)
                ++offset;
            break;
        }
        case 'i':
        case 'f':
        case 'd':
            set_control(tree, synth, control, offset, args.get_float());
            ++offset;
            break;
        default: args.skip();
        }
    } while (depth > 0 && args.tag());
    return offset;
}

int64_t read_counted_values(ArgReader& args, Tree& tree, Synth& synth, const ControlArg& control) noexcept {
    const int32_t count = args.get_int();
    int32_t i = 0;
    for (; i < count && args.remain() > 0; ++i) {
        if (!args.at_string()) {
            set_control(tree, synth, control, i, args.get_float());
            continue;
        }
        const BusText bus = parse_bus(args.get_string());
        if (bus.valid)
            map_control(tree, synth, control, i, bus.bus, bus.audio);
    }
    return i;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tree/tree.hpp"
#include "osc/arg-reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace scs::osc {

/// A node that arguments name: null if there is none, and the ID for the /fail.
struct NodeArg {
    Node* node = nullptr;
    int32_t id = 0;

    explicit operator bool() const noexcept { return node; }
    Group* group() const noexcept { return node && node->is_group ? static_cast<Group*>(node) : nullptr; }
    Synth* synth() const noexcept { return node && !node->is_group ? static_cast<Synth*>(node) : nullptr; }
};

/// [rt] Reads a node ID, or a string of steps and then the ID that they start from: h head, t tail, u up,
/// p previous, n next.
NodeArg read_node(ArgReader&, Tree&) noexcept;

/// The control that an argument names, by its name or by its index.
struct ControlArg {
    std::string_view name;
    int64_t index = 0; ///< if there is no name
    bool named = false;
};

/// [rt] Reads a control's name or index.
ControlArg read_control(ArgReader&) noexcept;

/// [rt] A control bus in the form "c12", or an audio bus in the form "a4".
struct BusText {
    bool valid = false, audio = false;
    int32_t bus = 0;
};
BusText parse_bus(std::string_view) noexcept;

/// [rt] Sets or maps the control that is `offset` after `control`.
void set_control(Tree&, Synth&, const ControlArg& control, int64_t offset, float value) noexcept;
void map_control(Tree&, Synth&, const ControlArg& control, int64_t offset, int64_t bus, bool audio) noexcept;

/// A range of offsets from a control.
struct Offsets {
    int64_t first, end; ///< the last + 1
};
/// [rt] Those of the offsets 0 … count - 1 at which there can be a control.
Offsets clip_offsets(const Synth&, const ControlArg&, int64_t count) noexcept;

/// What a text in an array of values that is no bus does: the value after it goes to the same control, or to the next.
enum class UnknownText : bool { keeps_place, takes_place };
/// [rt] Reads what follows a control in /n_set and /s_new, a number, a bus, or an array of them for adjacent controls,
/// and sets or maps the controls. Returns how many values there were.
int64_t read_values(ArgReader&, Tree&, Synth&, const ControlArg&, UnknownText) noexcept;
/// [rt] Reads what follows a control in /n_setn and /s_newargs, a count and that many values, and sets or maps; result
/// as above.
int64_t read_counted_values(ArgReader&, Tree&, Synth&, const ControlArg&) noexcept;

/// [rt] The node after `node` in depth-first order inside `top`, or null.
Node* next_in(const Group& top, Node& node) noexcept;
/// [rt] The first synth among `top` and the nodes below it, or null, and the one after `synth`.
Synth* first_synth(Node& top) noexcept;
Synth* next_synth(Node& top, Synth& synth) noexcept;
/// [rt] The same as next_in(); `depth` must be that of `node` below `top`, and becomes that of the node returned.
Node* next_in(const Group& top, Node& node, int& depth) noexcept;

} // namespace scs::osc

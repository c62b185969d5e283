// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tree/tree.hpp"
#include "osc/arg-reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace scs::osc {

/// A node that arguments speak of: found or not, and the ID that an error names.
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

/// Which controls a message speaks of: a name or an index, and how many there can be at most.
struct ControlArg {
    std::string_view name;
    int64_t index = 0; ///< if there is no name
    bool named = false;
};

/// [rt]
ControlArg read_control(ArgReader&) noexcept;

/// [rt] A bus in the form "c12" or "a4".
struct BusText {
    bool valid = false, audio = false;
    int32_t bus = 0;
};
BusText parse_bus(std::string_view) noexcept;

/// [rt] Sets or maps the control that is `offset` after `control`.
void set_control(Tree&, Node&, const ControlArg& control, int64_t offset, float value) noexcept;
void map_control(Tree&, Node&, const ControlArg& control, int64_t offset, int64_t bus, bool audio) noexcept;

/// [rt] The most controls that a synth at or below `node` has: what loops over controls are bounded by.
int64_t most_controls(Node& node) noexcept;
/// [rt] The first and last + 1 offset in 0 … count that can exist from `control` on.
struct Offsets {
    int64_t first, end;
};
Offsets clip_offsets(Node&, const ControlArg&, int64_t count) noexcept;

/// [rt] The value arguments after a control, of /n_set and /s_new: a number, a bus or an array of such, over
/// adjacent controls.
enum class UnknownText : bool { keeps_place, takes_place };
void read_values(ArgReader&, Tree&, Node&, const ControlArg&, UnknownText) noexcept;
/// [rt] The count and that many values after a control, of /n_setn and /s_newargs.
void read_counted_values(ArgReader&, Tree&, Node&, const ControlArg&) noexcept;

/// [rt] The node after `node` in depth-first order inside `top`, or null.
Node* next_in(const Group& top, Node& node) noexcept;
/// [rt] The same; `depth`, that of `node` below `top`, becomes that of the next one.
Node* next_in(const Group& top, Node& node, int& depth) noexcept;

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/tree/controls.hpp"
#include "engine/tree/tree.hpp"
#include "osc/arg-reader.hpp"
#include "osc/osc-command.hpp"

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
/// p previous, n next. More than a thousand steps lead to no node.
NodeArg read_node(ArgReader&, Tree&) noexcept SCS_NONBLOCKING;

/// Whether a number is an add action of commands.
constexpr bool valid_add_action(int32_t number) noexcept {
    return number >= 0 && number <= int32_t(AddAction::insert);
}

/// The control that an argument names, by its name or by its index.
struct ControlArg {
    std::string_view name;
    int64_t index = 0; ///< if there is no name
    bool named = false;
};

/// [rt] Reads a control's name or index.
ControlArg read_control(ArgReader&) noexcept SCS_NONBLOCKING;

/// [rt] A control bus in the form "c12", or an audio bus in the form "a4".
struct BusText {
    bool valid = false, audio = false;
    int32_t bus = 0;
};
BusText parse_bus(std::string_view) noexcept SCS_NONBLOCKING;

/// [rt] Where values for a control and those after it go. By index `first` may be negative, where there is none.
/// Looked up once for all values: there may be a million, and none of them may have a control.
ControlRange find_controls(const Synth&, const ControlArg&) noexcept SCS_NONBLOCKING;

/// What a text in an array of values that is no bus does: the value after it goes to the same control, or to the next.
enum class UnknownText : bool { keeps_place, takes_place };
/// [rt] Reads a control at Place::args and what follows it in /n_set and /s_new, a number, a bus, or an array of them
/// for adjacent controls, and sets or maps these. Uses `within`, `number` and `end` of the place, which are 0 and empty
/// between two items. false: there was no time for all values; to be called again.
bool set_values(Place&, Engine&, Synth&, UnknownText) noexcept SCS_NONBLOCKING;
/// [rt] The same with what follows in /n_setn and /s_newargs, a count and that many values.
bool set_counted_values(Place&, Engine&, Synth&) noexcept SCS_NONBLOCKING;

} // namespace scs::osc

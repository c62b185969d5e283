// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/nodes/node.hpp"
#include "engine/synthdef/program.hpp"
#include "osc/codec/reply-record.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace scs {
class Engine;
} // namespace scs

namespace scs::osc {

// How controls are named to clients, and what they have. [rt]

/// The names of a program's controls by index, asked for in rising order from `first` on.
class ControlNames {
public:
    ControlNames(const Program& program, uint32_t first) noexcept
        : program_(program),
          next_(std::lower_bound(
              program.slots_by_index.begin(), program.slots_by_index.end(), first,
              [&](uint32_t slot, uint32_t index) { return program.control_slots[slot].index < index; })) {}

    /// Empty if there is none; the last of several.
    std::string_view at(uint32_t index) noexcept {
        if (next_ == program_.slots_by_index.end() || program_.control_slots[*next_].index != index)
            return {};
        return program_.control_slots[*next_++].name;
    }
    /// Adds the name, or the index of a control without one.
    void add(ReplyWriter& reply, int index) noexcept {
        const std::string_view name = at(uint32_t(index));
        if (name.empty())
            reply.add(int32_t(index));
        else
            reply.add(name);
    }

private:
    const Program& program_;
    std::vector<uint32_t>::const_iterator next_;
};

/// The bus that a control is mapped to, as "c12" or "a4"; empty if it isn't.
std::string_view mapping_text(const Synth& synth, int index, char (&text)[16]) noexcept SCS_NONBLOCKING;

/// Adds that, or the value of a control that isn't mapped.
void add_value(ReplyWriter& reply, const Synth& synth, int index) noexcept SCS_NONBLOCKING;

/// Adds how many controls a synth has, then each with its name or index and what add_value() adds. `next`: 0 at first,
/// then the control to go on with. false: there was no time for all of them; to be called again.
bool add_controls(Engine&, ReplyWriter&, const Synth&, int64_t& next) noexcept SCS_NONBLOCKING;

} // namespace scs::osc

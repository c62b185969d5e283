// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/nodes/node.hpp"

#include <cstdint>
#include <string_view>

namespace scs {

// The controls of a synth, be it a UnitGraph or a Voice. [rt] Indices must be in range.

int control_count(const Synth&) noexcept SCS_NONBLOCKING;
/// Adjacent controls: `first` and those after it.
struct ControlRange {
    int64_t first = 0, count = 0;
};
/// The controls of this name; none if the synth doesn't have it.
ControlRange controls_named(const Synth&, std::string_view name) noexcept SCS_NONBLOCKING;
/// The value that was set last, even while the control is mapped.
float control(const Synth&, int index) noexcept SCS_NONBLOCKING;
/// What the control is mapped to; `bus` gets the number.
Mapping mapping(const Synth&, int index, int& bus) noexcept SCS_NONBLOCKING;

} // namespace scs

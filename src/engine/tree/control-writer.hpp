// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/compile/turn-facts.hpp"
#include "engine/nodes/node.hpp"

namespace scs {

class Buses;
class Ensemble;

/// Sets the controls of synths, be they UnitGraphs or Voices. [rt]
class ControlWriter {
public:
    ControlWriter(const Buses& buses, Ensemble& ensemble) noexcept : buses_(buses), ensemble_(ensemble) {}

    /// Sets a control. As in scsynth, indices out of range are ignored.
    void set(Synth&, int64_t index, float value, WhenSet = WhenSet::later) noexcept SCS_NONBLOCKING;
    /// Maps a control to a bus; bus -1 unmaps it. Indices and buses out of range are ignored.
    void map(Synth&, int64_t index, int64_t bus, bool audio) noexcept SCS_NONBLOCKING;

private:
    const Buses& buses_;
    Ensemble& ensemble_;
};

} // namespace scs

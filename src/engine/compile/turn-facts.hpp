// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/deadline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace scs {

/// Whether a control is set by what makes its synth, or by another command.
enum class WhenSet : bool { at_start, later };

/// What a SynthDef's synths take, ns, as measured; see Costs. [rt], the data loop's.
struct SynthCosts {
    int64_t synth = 0; ///< a block of one synth; 0: not measured yet
    int64_t last = 0;  ///< the last of these measurements by itself
    /// A synth's turn, in which others may be computed, too. Deadline::unknown: to be measured each time.
    int64_t turn = Deadline::unknown;
    std::array<uint32_t, 3> items{}; ///< an item of each kind, without interruptions; 0: not measured yet
};

/// What is known of a SynthDef's synths before they are computed: what else their blocks depend on and change than what
/// is their own. Immutable, so any thread may read it, but for what they cost.
struct TurnFacts {
    std::string name;            ///< the SynthDef's
    bool acts_on_itself = false; ///< has only done actions that affect no node but its own
    bool ends = false;           ///< may end or pause itself
    bool reads = false;          ///< reads buses
    bool draws = false;          ///< draws random numbers in its blocks
    uint32_t numbers = 0;        ///< in each block; 0: that varies, or is none
    bool reads_buffers = false;  ///< sample buffers that others may write
    bool writes_buffers = false;
    bool sends = false;     ///< messages to clients
    bool allocates = false; ///< real-time memory, in its blocks
    /// Whether a block may be computed before other nodes have had their turns in the block before it, as far as what
    /// is above and the buses allow it.
    bool pipelines = false;
    uint64_t bus_controls = 0; ///< a control_bit() for each control that is a bus's number
    bool buses_stay = true;    ///< none of these controls changes by itself
    /// The same for controls that are the gates of envelopes. Where a synth's gate is open, and is closed before the
    /// first block, it becomes minus zero, by which the envelope knows that it is to open and close; a client's own
    /// minus zero becomes zero.
    uint64_t gate_controls = 0;

    /// The last one is of all controls from 63 on.
    static constexpr uint64_t control_bit(size_t control) noexcept {
        return uint64_t(1) << (control < 63 ? control : 63);
    }
    mutable SynthCosts costs;

    bool is_bus(int control) const noexcept { return bus_controls & control_bit(size_t(control)); }
    bool is_gate(int control) const noexcept { return gate_controls & control_bit(size_t(control)); }
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/result.hpp"
#include "engine/synthdef/input-guards.hpp"
#include "engine/synthdef/input-mends.hpp"
#include "engine/synthdef/synthdef.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// One signal: a constant or one output of a unit.
struct WireSpec {
    Rate rate = Rate::scalar; ///< scalar for a constant, else the rate of the unit that computes it
    int32_t from_unit = -1;   ///< index of the unit that computes it; -1: a constant
    float value = 0.0f;       ///< the constant's value; 0 for outputs
    int32_t buffer = -1;      ///< index of the audio wire buffer; -1: the value lives in the wire itself
    bool late = false;        ///< computed from a Demand's values, which are 0 before the first block
};

/// One unit of a program.
struct UnitPlan {
    const UgenInfo* ugen = nullptr;
    Rate rate = Rate::scalar;
    int16_t special_index = 0;
    uint32_t first_input = 0; ///< into Program::inputs
    uint32_t num_inputs = 0;
    uint32_t first_output_wire = 0; ///< into Program::wires; the outputs are adjacent
    uint32_t num_outputs = 0;
    bool once_a_block = false; ///< where synths have blocks of their own: it runs in each of the server's

    /// Whether it is called in each block, as units at control and audio rate are. For others only the constructor
    /// runs.
    bool is_calc() const noexcept { return rate == Rate::control || rate == Rate::audio; }
};

/// A named control: its first index, and how many controls can be set through the name.
struct ControlSlot {
    std::string name;
    uint32_t index = 0;
    uint32_t channels = 0;
};

/// A validated definition, laid out to run. Immutable, so any thread may read it.
struct Program {
    std::string name;
    int block_size = 0;          ///< frames of the server's blocks, and in a wire buffer unless a synth has its own
    OwnRate own_rate;            ///< what its synths ask for
    int most_frames = 0;         ///< that one of their blocks may have
    bool hears_audio = false;    ///< if they have blocks of their own: may read audio buses
    std::vector<float> controls; ///< initial values
    std::vector<ControlSlot> control_slots;
    std::vector<uint32_t> slots_by_index; ///< those that cover controls, in rising order of these
    std::vector<Variant> variants;  ///< each a full set of initial values, named "definition.variant"; sorted by name
    std::vector<WireSpec> wires;    ///< the constants, then all outputs in the order of the units
    std::vector<uint32_t> inputs;   ///< wire indices; each unit's are consecutive
    std::vector<UnitPlan> units;    ///< in the order in which they run
    std::vector<InputGuard> guards; ///< in the order of the units
    std::vector<InputMend> mends;   ///< the same; none where units are to sound as in scsynth
    uint32_t num_constants = 0;
    uint32_t num_wire_buffers = 0; ///< audio wire buffers used
    uint32_t num_calc_units = 0;   ///< units that are called each block

    /// The index of the control whose value is on a wire; -1: none, or one that is read only once.
    int32_t control_on(uint32_t wire) const noexcept;
    /// [rt] The control of this name, or null. Never allocates.
    const ControlSlot* find_control(std::string_view control_name) const noexcept SCS_NONBLOCKING;
    /// [rt] The variant of this full name ("definition.variant"), or null; the first listed of several. Never
    /// allocates.
    const Variant* find_variant(std::string_view full_name) const noexcept SCS_NONBLOCKING;

    /// Hash table of control_slots with linear probing. Its size is a power of two; entries are slot indices plus one,
    /// 0 is empty.
    std::vector<uint32_t> control_table;
};

/// [worker] Validates a definition and lays it out. Audio outputs share wire buffers exactly as in scsynth, so that
/// units that compute in place see the same inputs and outputs. block_size: frames, 1 or more. Errors: those of
/// validate(), "exceeded number of interconnect buffers" if more than max_wire_buffers are needed, and a control that
/// is to set a block size or a rate and isn't there. The result keeps pointers into the catalog. `mending`: with
/// InputMends.
Result<std::unique_ptr<Program>> compile(const SynthDef& def, const UgenCatalog& catalog, int block_size,
                                         int max_wire_buffers, bool mending = false);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

struct Program;

/// A program's operations for a number of lanes.
struct OpList {
    int lanes = 0;
    std::vector<Operand> operands;
    AlignedArray<float> constants;
    std::vector<Gain> gains;
    std::vector<Op> ops; ///< computed each block
};

/// A program of native UGens alone: what runs in place of a UnitGraph. Immutable, so any thread may read it.
///
/// What a voice keeps is its record: the controls' values, the scalar wires (floats), then the kernels' states. A
/// batch's record has each item once for each lane, side by side; an item at byte o of a voice's record is at
/// o * lanes there.
struct NativeCode {
    /// Items to be moved between a record and a lane: 8-byte items, then 4-byte ones, an even number.
    struct Piece {
        uint32_t offset;
        uint16_t items64, items32;
    };

    OpList lone, batch;
    OpList plain;                                ///< lone, an operation for each unit: for /n_trace
    std::vector<Op> starts;                      ///< of all units in order; lone
    std::vector<Op> stops;                       ///< in order; lone
    std::vector<Piece> pieces;                   ///< all of the record
    std::vector<uint32_t> forgotten;             ///< controls that are 0 after each block
    uint32_t record_bytes = 0;                   ///< a multiple of 8
    uint32_t controls = 0;                       ///< the record begins with this many
    uint32_t audio_wires = 0, control_wires = 0; ///< wires it needs at once
    bool batchable = false;
    bool writes_control_buses = false;
    /// Where more than one operation of a batch reaches buses: those operations (indices into batch.ops). Voices may
    /// be batched while none reaches a bus that another one of them writes. First input: a record's item or a constant.
    struct BusUse {
        uint32_t op;
        Effect effect;
        uint8_t first_channel; ///< of what writes
    };
    std::vector<BusUse> bus_uses;
    /// Whether nothing but what it adds to buses reaches others. What operations of a batch add then comes in `holds`,
    /// in order: which operation, its first set of rows, and how it holds.
    struct Hold {
        uint32_t op, set;
        KernelFunction hold, hand_over;
    };
    std::vector<Hold> holds;
    bool only_adds = false;
    bool draws = false;    ///< random numbers in its blocks
    bool commutes = false; ///< only_adds, and batches can hold that
};

/// [worker] A program as native operations, or null if a unit of it, or the block size, isn't
/// native, or it has too many wires. block_size: frames.
std::unique_ptr<const NativeCode> generate(const Program&, const NativeUgens&, int block_size);

/// Wires that a program may have, audio ones at once; what has more stays with the plugins' units.
constexpr uint32_t most_audio_wires = 256, most_control_wires = 4096;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/compile/turn-facts.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

struct Program;

/// Operations one after the other.
struct Sequence {
    std::vector<Op> ops;
    /// Between two parts the deadline is asked. The first one begins after what may be at rest (rest.hpp), the last one
    /// ends with the operations; there is at least one. Where voices have blocks or a rate of their own a list's first
    /// part is empty, and so there are two.
    struct Part {
        size_t end;   ///< the operation after it
        int64_t nsec; ///< that it may have taken; or Deadline::unknown
    };
    std::vector<Part> parts;
};

/// A program's operations for a number of lanes: all of them, as they are computed in each block, but for those at
/// rest.
struct OpList : Sequence {
    int lanes = 0;
    std::vector<Operand> operands;
    AlignedArray<float> constants;
    std::vector<DemandSource> demand; ///< the units at demand rate; operands have their addresses
    std::vector<Gain> gains;
    /// Where voices have blocks or a rate of their own: all but those that are computed once in a block of the server,
    /// with the first of the voices' blocks.
    Sequence later;
    uintptr_t known_bytes = 0; ///< of the record, at its beginning: controls and scalar wires, known before a block
};

/// Operations at control rate that may be at rest (rest.hpp). They come first in the lists, in the same order in all
/// but `plain`, and their outputs lie in the record.
struct Resting {
    static constexpr size_t most_ops = 512;
    static constexpr size_t word_bits = 64; ///< a bit for each operation
    static constexpr size_t head_bytes = 8; ///< of what a record has at `awake_at`, before the words
    /// An operation's state.
    struct Items {
        uint16_t items64, items32;
        constexpr size_t bytes() const noexcept { return items64 * 8u + items32 * 4u; }
    };

    uint32_t count = 0;                    ///< of such operations, kept as each block asks for it
    std::vector<Items> items;              ///< of each
    std::vector<uint64_t> with_state;      ///< words: which have some
    std::vector<uint64_t> readers;         ///< of each operation's output, all of them later ones: as many words
    std::vector<uint64_t> control_readers; ///< the same of each control
    uint32_t words = 0;                    ///< for a bit of each operation; 0: there are none
    uint32_t awake_at = 0;                 ///< bytes into a record: where it has what is known of it

    size_t ops() const noexcept { return count; }
};

/// A program whose UGens are all native, compiled to run in place of a UnitGraph. Immutable, so any thread may read it.
///
/// What a voice keeps from block to block is its record: the controls' values, the scalar wires (floats), then the
/// kernels' states. A batch's record has each item once for each lane, side by side: an item at byte o of a voice's
/// record begins at byte o * lanes there. What follows is made anew where a voice joins or leaves a batch: the outputs
/// of operations that may be at rest, and which of them are.
struct NativeCode : TurnFacts {
    /// Items that move between a record and a lane: 8-byte items, then an even number of 4-byte items.
    struct Piece {
        uint32_t offset;
        uint16_t items64, items32;
    };

    OpList lone, batch;
    OpList plain;                             ///< lone, with an operation for each unit; for /n_trace
    std::vector<Op> starts;                   ///< of all units in order; lone
    int64_t start_cost = Kernel().start_cost; ///< ns that the dearest of them may take
    std::vector<Op> stops;                    ///< in order; lone
    std::vector<Op> lone_tails, batch_tails;  ///< what writes to buses when a voice is freed; in order
    /// Whether voices have blocks or a rate of their own; and if so, how these lie in the server's, and of each unit
    /// whether it is computed once in one of those.
    bool own_rate = false;
    Ticks ticks;
    std::vector<bool> once;
    Resting resting;
    std::vector<Piece> pieces;       ///< cover what moves with a voice
    std::vector<Piece> stop_pieces;  ///< all of it that `stops` see
    std::vector<uint32_t> forgotten; ///< controls that are set to 0 after each block
    uint32_t record_bytes = 0;       ///< a multiple of 8
    uint32_t controls = 0;           ///< how many controls the record begins with
    /// What a record has at own_buffers_at, bytes, are the buffers that only the voice has.
    bool own_buffers = false;
    uint32_t own_buffers_at = 0;
    uint32_t audio_wires = 0, control_wires = 0; ///< the most wires that are in use at once
    bool batchable = false;
    bool writes_control_buses = false;
    bool pauses = false;     ///< a voice may pause itself
    bool takes_long = false; ///< has units whose blocks may take milliseconds
    /// An operation (an index into the list's ops) that reaches buses, and how. Its first input is the number of the
    /// first one.
    struct BusUse {
        uint32_t op;
        Effect effect;
        uint8_t first_channel; ///< the first input that is written to a bus
    };
    std::vector<BusUse> lone_reaches, batch_reaches; ///< all of them, in order
    /// Whether several operations reach buses and one of them writes. Then voices may be batched as long as none
    /// reaches a bus that another one writes; known_before() holds for all of a batch.
    bool reaches_may_meet = false;
    /// An operation that writes buses: which one, its first set of rows, and the operation for when those of its inputs
    /// that are wires have been kept, one after the other from the first set on. A set is a row for each lane.
    struct Kept {
        uint32_t op, set;
        Op late;
    };
    std::vector<Kept> lone_keeps, batch_keeps; ///< in order
    std::vector<Operand> late_operands;        ///< of those operations
    /// Whether a voice affects others only by what it adds to buses. The operations of a batch that do so, in order:
    /// which one, its first set of rows, and its functions that hold.
    struct Hold {
        uint32_t op, set;
        KernelFunction hold, hand_over;
    };
    std::vector<Hold> holds;
    uint32_t lone_sets = 0, batch_sets = 0; ///< how many sets are kept
    uint32_t sets = 0;                      ///< how many sets of rows the operations hold
    bool only_adds = false;
    bool commutes = false; ///< only_adds, and batches can hold what it adds
    /// Whether a voice's start comes to the same before and after the turns of others, as long as none of these draws
    /// random numbers or writes to sample buffers, and no control is mapped.
    bool starts_anywhere = false;
    /// Whether a batch's or a lone voice's blocks are made of nothing but its record, sample buffers and, if it
    /// `reads`, buses the numbers of which are known before. Then another thread may compute them before its turn, all
    /// but the operations that write buses.
    bool ahead = false, lone_ahead = false;
};

/// [worker] Compiles a program to native operations. Null if a unit has no kernel, kernels can't compute blocks of this
/// size, the program has too many wires, or its synths may differ in their blocks or rates. block_size: frames.
std::unique_ptr<const NativeCode> generate(const Program&, const NativeUgens&, int block_size);

/// The most wires that a native program may have (audio wires: at once). Programs with more are run by plugins' units.
constexpr uint32_t most_audio_wires = 256, most_control_wires = 4096;

} // namespace scs

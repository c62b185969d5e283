// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// What pair_up() asks.
struct PairFacts {
    std::span<const Kernel* const> kernels;   ///< of each unit
    KernelFunction (*pair_of)(const Kernel&); ///< what computes two operations of a kernel, or null
    uint32_t most_wires;                      ///< audio wires
    uint32_t wire_bytes;                      ///< of an audio wire
};

/// [worker] Puts operations of a lone voice that have the same kernel and don't need each other side by side, and has
/// one function compute both (ugens/kernel-pairs.hpp): the second one comes up behind the first, and what it needs
/// before that. What is computed stays the same, and so does the order of all that does more than compute its outputs.
/// Audio wires are given out anew, so `operands`, to which the operations point, change. ops: in the order in which
/// they are run. Returns where each operation is now, by where it was. Nothing changes where there is no such pair,
/// there are too many wires, or anything is asked for values on demand.
std::vector<uint32_t> pair_up(std::span<Op> ops, std::span<Operand> operands, const PairFacts&);

} // namespace scs

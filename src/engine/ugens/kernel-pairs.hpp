// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

namespace scs {

/// A kernel, and what computes two of its operations in a block of a lone voice: the one it is called with, and the one
/// after that in memory, which reads nothing that the first one writes. Each may have a gain, and has the same bits as
/// by itself.
struct KernelPair {
    const Kernel* kernel;
    KernelFunction run;
};

/// [any] What computes two operations of this kernel; null: nothing does.
KernelFunction pair_of(const Kernel&) noexcept;

} // namespace scs

/// The families that have a list of pairs, which SCS_PAIRS(name) at their end makes known.
#define SCS_FAMILIES_WITH_PAIRS(family)                                                                                \
    family(equalizers) family(first_order_filters) family(lags) family(second_order_filters)
#define SCS_PAIRS(name)                                                                                                \
    extern const std::span<const KernelPair> name##_pairs;                                                             \
    const std::span<const KernelPair> name##_pairs = pairs;

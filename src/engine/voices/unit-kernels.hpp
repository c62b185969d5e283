// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <vector>

namespace scs {

struct Program;
struct UnitPlan;

/// [worker] The kernel that can compute this unit, or null.
const Kernel* kernel_of(const Program&, const UnitPlan&, const NativeUgens&);

/// [worker] For a program that has plugins' units, too: a kernel for each unit, null for those that stay the plugins';
/// empty if all do. The kernels are run lone, with a state of their own and what they reach by fixed addresses. A unit
/// stays the plugins' if its kernel shares something with other kernels, and if it could not tell that another unit of
/// the program gives it a buffer or a random generator of its own.
std::vector<const Kernel*> kernels_among_plugins(const Program&, const NativeUgens&, int block_size);

} // namespace scs

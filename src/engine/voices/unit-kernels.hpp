// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <vector>

namespace scs {

struct Program;
struct UnitPlan;

/// [worker] The kernel that can compute this unit, or null.
const Kernel* kernel_of(const Program&, const UnitPlan&, const NativeUgens&);

/// [worker] For a program that also has plugins' units: a kernel for each unit, null where the plugin's unit stays;
/// empty if all stay. The kernels run lone, each with its own state, and find what they read by fixed addresses. A
/// plugin's unit stays if its kernel would share something with other kernels, or if another unit of the program may
/// give it a buffer or a random generator that the kernel wouldn't know of.
std::vector<const Kernel*> kernels_among_plugins(const Program&, const NativeUgens&, int block_size);

} // namespace scs

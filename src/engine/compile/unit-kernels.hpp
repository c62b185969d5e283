// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/turn-facts.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace scs {

struct Program;
struct UnitPlan;

/// [worker] The kernel that can compute this unit, or null.
const Kernel* kernel_of(const Program&, const UnitPlan&, const NativeUgens&);

/// Which units of a program are native where they can be.
enum class NativeUnits : uint8_t {
    any,
    buses, ///< those that read and write buses, to scsynth's bits
};

/// [worker] For a program that also has plugins' units: a kernel for each unit, null where the plugin's unit stays;
/// empty if all stay. The kernels run lone, each with its own state, and find what they read by fixed addresses. A
/// plugin's unit stays if its kernel would share something with other kernels; all stay if one of them may give the
/// others a random generator that kernels wouldn't know of.
std::vector<const Kernel*> kernels_among_plugins(const Program&, const NativeUgens&, NativeUnits, int block_size);

/// [worker] A TurnFacts::control_bit() for each control that is the gate of a unit with a kernel; `kernels`: of each
/// unit, or empty.
uint64_t gate_controls(const Program&, std::span<const Kernel* const> kernels);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>
#include <span>

namespace scs {

struct UnitPlan;

/// A native UGen in a graph of plugins' units, to which it looks like one of them. In memory its operands follow it,
/// then its kernel's state. [rt]
struct NativeUnit {
    ::Unit unit;
    const Kernel* kernel;
    Block* block; ///< its synth's
    Op op;

    /// Bytes of a unit together with what follows it.
    static size_t bytes(const UnitPlan&, const Kernel&) noexcept;
    /// Sets up what follows the unit. The unit's own fields, inputs and outputs must be set; nothing has run yet.
    void prepare(const Kernel&, Block&) noexcept;
    /// What a plugin's constructor does.
    void construct() noexcept;
    /// What its destructor does. Only if the kernel has a stop().
    void destroy() noexcept;
    /// Writes what destroy() would write to buses. Only if the kernel has a lone_tail().
    void write_tail() noexcept;

    /// The kernel's state.
    std::span<std::byte> state() noexcept SCS_NONBLOCKING;
    /// Tells plugins' units, which may wait for that, whether it is done.
    void update_done() noexcept;

    /// Inputs, then outputs.
    std::span<Operand> operands() noexcept {
        return {reinterpret_cast<Operand*>(this + 1), size_t(unit.mNumInputs) + unit.mNumOutputs};
    }

    static NativeUnit& of(::Unit& unit) noexcept { return reinterpret_cast<NativeUnit&>(unit); }
};

} // namespace scs

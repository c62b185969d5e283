// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>

namespace scs {

struct UnitPlan;

/// A native UGen in a graph of plugins' units, which see a unit like theirs. Its operands lie behind it, then its
/// kernel's state. [rt]
struct NativeUnit {
    ::Unit unit;
    const Kernel* kernel;
    Block* block; ///< its synth's
    Op op;

    /// Bytes of one and of what lies behind it.
    static size_t bytes(const UnitPlan&, const Kernel&) noexcept;
    /// Once the unit's own fields, inputs and outputs are there. Nothing has run yet.
    void prepare(const Kernel&, Block&) noexcept;
    /// What a plugin's constructor does.
    void construct() noexcept;
    /// What its destructor does.
    void destroy() noexcept;

    /// Plugins' units may wait for its end.
    void update_done() noexcept;

    static NativeUnit& of(::Unit& unit) noexcept { return reinterpret_cast<NativeUnit&>(unit); }
};

} // namespace scs

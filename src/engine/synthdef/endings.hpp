// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

struct Program;
struct UnitPlan;

/// What a unit may do to nodes: by its done action, or as FreeSelf and its like do. Says nothing of units of which
/// nothing is known (UnitEffects).
struct UnitEnding {
    bool ends = false;   ///< it may end or pause its synth, or more than that
    bool frees = false;  ///< it may free its synth
    bool others = false; ///< it may act on other nodes, perhaps before those have had their turns
};

/// [worker]
UnitEnding ending_of(const Program&, const UnitPlan&);

} // namespace scs

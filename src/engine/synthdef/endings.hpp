// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

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

/// Whether a synth plays on as long as nobody ends it.
struct Staying {
    bool stays = true;          ///< none of its units frees it but those that these gates hold
    std::vector<int32_t> gates; ///< controls, each in rising order; the synth stays while all of them are above 0
};

/// [worker]
Staying staying(const Program&);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// A plugin file that wasn't loaded, and why.
struct LeftOut {
    std::string path, why;
};

/// [worker] What to tell somebody whose SynthDef has a unit that isn't there: which file would have it and what that
/// lacks, or which pack has it, and what to do. `own_searched`: the server searches SuperCollider's own folders, so
/// its own units are there. Reads the files.
std::string advice_on_missing(std::string_view unit, const std::vector<LeftOut>&, bool own_searched);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/query.hpp"
#include "cli/top/view.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scs::top {

/// Synths added up.
struct Sums {
    int64_t running = 0, paused = 0, batches = 0;
    double nsec = 0;        ///< what those that run take for a block, by the means of their SynthDefs
    bool estimated = false; ///< voices are among them: a mean over batches of any size
    int64_t unmeasured = 0; ///< synths that run, but whose SynthDef has not been measured: they aren't in nsec

    Sums& operator+=(const Sums&);
};

/// The synths of one SynthDef in a group.
struct DefLine {
    std::string name;
    Sums sums;
};

struct GroupLine {
    int32_t id = 0;
    size_t parent = 0;         ///< its index, less than this group's; the first group has itself
    int depth = 0;             ///< 0: the first
    bool runs = true;          ///< false: it or a group that it is in is paused, and so all its synths
    std::vector<DefLine> defs; ///< its own synths, the dearest first
    Sums own, all;             ///< without and with what is in its subgroups
};

/// What a sample says, added up.
struct Model {
    ServerFigures server;
    bool whole = true;
    std::vector<GroupLine> groups; ///< each after its parent; never empty

    /// A time as a part of what a block has, in %.
    double percent(double nsec) const;
};

/// Groups whose parent isn't known, as they were moved meanwhile, are put into the first group.
Model make_model(const Sample&);

/// A line of the tree as it is shown.
struct Row {
    size_t group = 0;          ///< its index in the model
    int folded = 0;            ///< how many groups below it have no line of their own
    std::vector<DefLine> defs; ///< of the group and of these, the dearest first
};

/// The lines that the view asks for: neighbours in its order, those that have its text and the groups that they are in,
/// down to its depth.
std::vector<Row> make_rows(const Model&, const View&);

} // namespace scs::top

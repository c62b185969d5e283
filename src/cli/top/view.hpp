// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace scs::top {

enum class Sort { cost, voices, name };

/// How the tree is shown. What keys change.
struct View {
    static constexpr int all_depths = std::numeric_limits<int>::max();

    Sort sort = Sort::cost;
    std::string filter;     ///< text in a group's ID, or in the name of a SynthDef or server; empty: everything
    int depth = all_depths; ///< groups further down are folded into the one above them
    int first_row = 0;      ///< that is shown
    bool typing = false;    ///< the filter is being typed
    bool held = false;      ///< the picture stands still
    bool help = false;

    /// Whether a text has the filter in it, in capitals or not.
    bool finds(std::string_view text) const;
};

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/view.hpp"

#include <string>

namespace scs::top {

/// A key: a printable character as it is, in UTF-8, or one of these.
struct Key {
    enum class Kind { text, enter, escape, erase, up, down, page_up, page_down, home, end };

    Kind kind = Kind::text;
    std::string text; ///< of Kind::text
};

/// What the picture is like that keys move in.
struct Extent {
    int rows = 0;    ///< of the tree
    int page = 0;    ///< of them that the screen has room for
    int deepest = 0; ///< depth of a group
};

/// Changes the view. False: quit.
bool press(const Key&, View&, const Extent&);

} // namespace scs::top

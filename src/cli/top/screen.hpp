// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/model.hpp"

#include <string>
#include <vector>

namespace scs::top {

struct Size {
    int columns = 80, rows = 24;
};

struct ScreenLine {
    enum class Style { plain, strong, reverse };

    std::string text; ///< printable; no longer than the screen is wide
    Style style = Style::plain;
};

/// What is shown, but for the view.
struct Scene {
    std::string server;           ///< its address and port
    const Model* model = nullptr; ///< null: nothing is known yet
    std::string trouble;          ///< why the picture is old, or missing; empty: it isn't
};

/// The screen from top to bottom, as many lines as it has rows.
std::vector<ScreenLine> draw(const Scene&, const View&, Size);

/// The same picture at any length and width, a line each with its line feed: for --once.
std::string plain_text(const Scene&, const View&);

/// The first row to be shown: the view's, or an earlier one, where the screen would else have empty rows.
int first_row(int wanted, int rows, Size);
/// How many rows of the tree the screen has room for.
int tree_rows(Size);

} // namespace scs::top

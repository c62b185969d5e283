// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/model.hpp"
#include "cli/top/screen.hpp"

#include <string>
#include <vector>

namespace scs::top {

/// One of several servers.
struct ServerRow {
    std::string name;             ///< as the user wrote it
    const Model* model = nullptr; ///< null: nothing is known yet
    std::string trouble;          ///< why the figures are old, or missing; empty: they aren't
};

/// Several servers as one screen, a line each: those that the view asks for, in its order. As many lines as it has
/// rows.
std::vector<ScreenLine> draw(const std::vector<ServerRow>&, const View&, Size);

/// The same picture at any length and width, a line each with its line feed: for --once.
std::string plain_text(const std::vector<ServerRow>&, const View&);

/// How many lines there are for servers, and how many of them the screen has room for.
int server_rows(const std::vector<ServerRow>&, const View&);
int server_room(Size);

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/view.hpp"

#include <algorithm>
#include <cctype>

namespace scs::top {

bool View::finds(std::string_view text) const {
    const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    return filter.empty() || std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end();
}

} // namespace scs::top

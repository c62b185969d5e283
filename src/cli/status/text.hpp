// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"

#include <string>

namespace scs::status {

/// How much of it is shown.
struct Extent {
    size_t width = 100; ///< columns; what doesn't fit into a line is left out
    bool all = false;   ///< whatever its length: no limits
};

/// All of it to be read by people, in lines. `server`: its address.
std::string to_text(const Contents&, const Surroundings&, const std::string& server, const Extent&);

} // namespace scs::status

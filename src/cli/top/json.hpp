// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/model.hpp"

#include <string>

namespace scs::top {

/// A sample as one JSON object in one line, without its line feed. The man page describes it. It has all groups, in the
/// order of the tree.
std::string to_json(const Model&, const std::string& host, int port);

} // namespace scs::top

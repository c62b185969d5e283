// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/model.hpp"

#include <string>
#include <string_view>

namespace scs::top {

/// The text as a JSON string, in one line: what isn't printable is shown as everywhere, as \xNN.
std::string quoted(std::string_view text);

/// A sample as one JSON object in one line, without its line feed. The man page describes it. It has all groups, in the
/// order of the tree.
std::string to_json(const Model&, const std::string& host, int port);

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"

#include <string>

namespace scs::status {

/// All of it as one JSON object, a line for each node, SynthDef and so on, without the last line feed. docs/status.md
/// describes it.
std::string to_json(const Contents&, const Surroundings&, const std::string& host, int port);

} // namespace scs::status

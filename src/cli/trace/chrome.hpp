// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/trace/recording.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace scs::trace {

/// Writes a recording as an object of the Chrome trace event format, which Perfetto and chrome://tracing read: a track
/// for each thread, whose events are in the order of their begins, each in front of those within it. `server` names
/// the process. The text comes in pieces; false from `write` ends it.
bool write_chrome_trace(const Log&, std::string_view server, const std::function<bool(std::string_view)>& write);

} // namespace scs::trace

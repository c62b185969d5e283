// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"

#include <string>

namespace scs {
class TextLine;
} // namespace scs

namespace scs::osc {

/// [any] The text of the /fail: scsynth's own where it has one.
std::string status_text(Status);
/// [rt] Adds the same to a line.
void add_status(TextLine&, Status) noexcept SCS_NONBLOCKING;

} // namespace scs::osc

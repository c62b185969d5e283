// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/status.hpp"

#include <string>

namespace scs::osc {

/// [any] The text of the /fail: scsynth's own where it has one.
std::string status_text(Status);

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/status.hpp"

#include <string>

namespace scs::osc {

/// [any] What /fail says, in scsynth's words where it has them.
std::string status_text(Status);

} // namespace scs::osc

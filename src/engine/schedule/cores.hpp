// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace scs {

/// [worker] How many cores there are that the calling thread may run on. A core's second hardware thread counts only if
/// it can't be told which core it belongs to. At least 1. `folder`: the kernel's description of them.
int cores_to_run_on(const std::string& folder = "/sys/devices/system/cpu");

} // namespace scs

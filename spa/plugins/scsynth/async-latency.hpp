// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/utils/dict.h>

namespace scs::spa {

/// [main] Cycles by which what a node plays and records is delayed without PipeWire's latencies saying so. `info`: the
/// factory's. An async node's buffers wait for the next cycle; before 1.5.81 nobody counts that.
int uncounted_cycles(const spa_dict* info);

} // namespace scs::spa

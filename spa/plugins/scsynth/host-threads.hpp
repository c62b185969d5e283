// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/schedule/thread-maker.hpp"

#include <spa/support/thread.h>

#include <memory>

namespace scs::spa {

/// [main] Threads of the host, which have the priority of its data loop where it can give it. Null if it has none.
std::shared_ptr<ThreadMaker> host_threads(spa_thread_utils*);

} // namespace scs::spa

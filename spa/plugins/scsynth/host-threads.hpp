// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/schedule/helper-pool.hpp"

#include <spa/support/plugin.h>
#include <spa/support/thread.h>

#include <memory>

namespace scs::spa {

/// By this interface of a TellingHandle the process that holds the plugin offers threads with the priority of its data
/// loop: PipeWire has them, but tells plugins nothing of them.
struct ThreadOffer {
    /// [main] For the nodes that are made as long as the handle lives. It must live longer than all of these.
    void (*offer)(spa_handle*, spa_thread_utils*);
};
inline constexpr char thread_offer_factory[] = "scsynth.thread-offer";
inline constexpr char thread_offer_interface[] = "Scsynth:Interface:ThreadOffer";
extern const spa_handle_factory thread_offer;

/// [main] Threads of the host, which have the priority of its data loop where it can give it: of these, or if there are
/// none, of those that were offered. Null if there are none, either.
std::shared_ptr<ThreadMaker> host_threads(spa_thread_utils*);
/// [main] The helpers that all nodes of the process with the same threads share: host_threads(), or plain ones.
std::shared_ptr<HelperPool> host_helpers(spa_thread_utils*);

} // namespace scs::spa

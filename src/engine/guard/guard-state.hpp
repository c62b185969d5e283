// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/guard/fault-guard.hpp"

#include <cstdint>
#include <setjmp.h>

namespace scs {

/// What a thread runs under guard. For the files of this folder. Signal handlers read it at any moment, on its thread.
struct GuardState {
    sigjmp_buf* target;          ///< where a fault jumps to; null: nowhere
    sigjmp_buf* host_target;     ///< where one in host code jumps to
    sigjmp_buf* caller;          ///< while host code that a plugin has called runs: what `target` was before
    const GuardedPieces* pieces; ///< of the plugin's code that runs; null: it has none
    uint32_t entries;            ///< how often plugins' code has begun
    uint32_t progress;           ///< see FaultGuard::progress()
    bool unhurried;              ///< the code may take as long as it likes
    /// Where it is on its way to; a fault meanwhile shows that what was kept there is spoilt.
    enum class Leaving : uint8_t { nowhere, to_target, to_host } leaving;
    bool overdue; ///< the plugin's code ends once the host code that it has called returns
    FaultGuard::Ending ending;

    bool in_host() const noexcept { return target == host_target; }
    bool in_plugin() const noexcept { return !in_host() || caller; }
};

// Initial-exec: other thread-local storage would be allocated when the data loop first touches it.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local GuardState guard_state;

/// Ends the guarded code that runs on this thread. There must be a target.
[[noreturn]] void end_guarded(FaultGuard::Ending) noexcept;

/// Keeps the compiler from moving accesses to the state over this line, where a signal may come.
inline void signal_fence() noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

} // namespace scs

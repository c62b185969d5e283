// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/guard/fault-guard.hpp"

#include <csignal>
#include <cstdint>

namespace scs {

/// Timers of threads' own processor time, which find guarded code that goes on for ever. They tick only while their
/// thread computes: one that waits isn't woken, but under a FaultGuard::TimeLimit. Real-time threads need them because
/// the kernel kills the process of one that has computed for 200 ms without a pause (RLIMIT_RTTIME, as rtkit demands
/// it).
class HangWatch {
public:
    static constexpr int signal = SIGXCPU;

    /// [any] Before any thread is watched.
    static void prepare() noexcept;
    /// [any] See FaultGuard::watch_thread().
    static bool begin(FaultGuard::Patience) noexcept;
    /// [any] See FaultGuard::TimeLimit.
    static bool begin_limit(int seconds) noexcept;
    static void end() noexcept;

    /// [any] Whether a signal of this number is a tick, and not somebody else's.
    static bool is_tick(const siginfo_t&) noexcept;
    /// [any] In the signal's handler, with what that was given: ends what has taken too long, and gives a thread that
    /// has computed for 80 ms without a pause a short one, guarded code or not; otherwise the kernel would end the
    /// process. Counting pauses and making one are system calls, the only ones on the data loop besides reading clocks.
    static void tick(const void* context) noexcept;

    /// [any] A number of the calling thread for nudge(); 0: it isn't watched.
    static int32_t watched_thread() noexcept;
    /// [any but rt] Has that thread look whether a plugin's code does nothing there but wait, which no timer of its
    /// processor time finds. The third time in a row that it has only waited since the last one, it is ended.
    static void nudge(int32_t thread) noexcept;
    /// [any] Whether a signal of this number is a nudge().
    static bool is_nudge(const siginfo_t&) noexcept;
    /// [any] In the signal's handler.
    static void nudged() noexcept;

    /// [any] Waits for a moment. To the kernel this is a pause, after which it counts a real-time thread's 200 ms anew.
    static void let_others_run() noexcept SCS_NONBLOCKING;

private:
    static void rest_if_due(int64_t now) noexcept;
};

} // namespace scs

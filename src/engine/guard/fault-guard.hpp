// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/float-mode.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <setjmp.h>

namespace scs {

class FaultLanding;

/// Plugins' code that consists of several pieces, such as the units of a synth: which of them is running. Only a piece
/// that takes too long by itself is ended, and the guard may have to tell its name when nothing else works any more.
struct GuardedPieces {
    volatile uint32_t at = 0;
    /// [any] The name of the running piece. Called in a signal handler; null: it has no name.
    const char* (*name)(const GuardedPieces&) noexcept = nullptr;
};

/// Runs code so that its crash ends that code alone and not the process. These jump back out of it: a SIGSEGV, SIGBUS,
/// SIGFPE or SIGILL that it causes, abort() unless the C library has found the heap corrupted, and on a watched thread
/// code without end. An exception ends there, too. What the code was changing stays half changed, and objects on its
/// stack are not destroyed. Signals of any other origin go to the handlers that were there before.
class FaultGuard {
public:
    /// [worker] Installs the signal handlers, once a process.
    static void install();

    /// [rt] Gives this thread a second stack for the handlers, in case its own overflows. Makes a system call the first
    /// time. Works for the first eight threads of a process.
    static void prepare_thread() noexcept SCS_NONBLOCKING;

    /// Such a stack for a thread of which it is known when it ends.
    class SecondStack {
    public:
        SecondStack(); // [worker]
        /// [that thread] Takes it into use, unless the thread has one. Makes a system call, as leave() does.
        void use() noexcept;
        /// [that thread] At its end.
        void leave() noexcept;

    private:
        std::unique_ptr<std::byte[]> memory_;
        bool used_ = false;
    };

    /// How much processor time guarded code of a watched thread may take: a piece of a plugin's code by itself, host
    /// code between two calls of progress().
    enum class Patience {
        little, ///< 30 ms and 60 ms, for threads that render
        much,   ///< 5 s each, for threads that work in the background
    };
    /// [any] From now on guarded code that takes longer on this thread is ended. false: the system has no timer left.
    /// Makes system calls. Calls nest; the first one's patience counts.
    static bool watch_thread(Patience) noexcept;
    /// [any] Undoes a watch_thread(), also one that returned false.
    static void unwatch_thread() noexcept;
    /// [any] A number of the calling thread for look_for_wait(); 0: it isn't watched.
    static int32_t watched_thread() noexcept SCS_NONBLOCKING;
    /// [any but rt] To be called every 100 ms or so of a watched thread that doesn't get on: ends a plugin's code there
    /// that only waits, which takes no processor time.
    static void look_for_wait(int32_t thread) noexcept;
    /// Watches this thread while it lives.
    class Watched {
    public:
        explicit Watched(Patience patience) noexcept { watch_thread(patience); }
        ~Watched() { unwatch_thread(); }
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
    };

    /// Once it has lived for `seconds`, a plugin's code on this thread is ended, also one that waits, but in the middle
    /// of the C library only after twice that. Until then no signal interrupts what it waits for. 0: it may take as
    /// long as it likes. The thread must not be watched. [any but rt]
    class TimeLimit {
    public:
        explicit TimeLimit(int seconds) noexcept;
        ~TimeLimit();
        TimeLimit(const TimeLimit&) = delete;
        TimeLimit& operator=(const TimeLimit&) = delete;

    private:
        bool limited_;
    };

    /// [any] The pieces that the plugin's code belongs to that this thread runs under guard; null if it has none.
    static const GuardedPieces* running_pieces() noexcept;

    /// [any] To be called by host code in loops that may be long: it is not without end.
    static void progress() noexcept SCS_NONBLOCKING;

    /// [any] Runs a plugin's code f(), whose `pieces` may be told. false: a fault ended it.
    template <class F>
    static bool run(F&& f, const GuardedPieces* pieces = nullptr) noexcept SCS_NONBLOCKING {
        return guarded<Entry>(f, pieces);
    }

    /// [any] Runs code f() that may take as long as it likes, such as a library that reads a file. false: a fault ended
    /// it.
    template <class F>
    static bool run_unhurried(F&& f) noexcept SCS_NONBLOCKING {
        return guarded<UnhurriedEntry>(f);
    }

    /// [any] Runs host code f(), which may run plugins' code that calls back into the host. false: a fault in host code
    /// ended it.
    template <class F>
    static bool run_host(F&& f) noexcept SCS_NONBLOCKING {
        return guarded<HostEntry>(f);
    }

    /// [any] Runs host code f(FaultLanding&) that calls many pieces of plugins' code, each between the landing's
    /// enter() and leave(). Cheaper than a run() for each. false: a fault in a piece ended it.
    template <class F>
    static bool run_pieces(F&& f) noexcept SCS_NONBLOCKING;

    /// [any] Ends the host code that this thread runs under run_host(), as if it had no end. There must be such code,
    /// and what is on its stack isn't destroyed.
    [[noreturn]] static void give_up() noexcept;

    /// Why guarded code was ended.
    enum class Ending : uint8_t { fault, abort, endless };
    /// [any] That of the code that was ended last on this thread.
    static Ending last_ending() noexcept SCS_NONBLOCKING;

    /// Marks host code that a plugin has called and that must not be left half done. While it lives, a fault ends the
    /// run_host() around it. A plugin that has taken too long by then is ended when it is left.
    class HostCode {
    public:
        HostCode() noexcept SCS_NONBLOCKING;
        ~HostCode() noexcept SCS_NONBLOCKING;
        HostCode(const HostCode&) = delete;
        HostCode& operator=(const HostCode&) = delete;

    private:
        sigjmp_buf* interrupted_;
        sigjmp_buf* outer_caller_;
    };

private:
    /// Makes `target` the place that faults jump to; the destructor restores the previous one.
    class Entry {
    public:
        explicit Entry(sigjmp_buf* target, const GuardedPieces* pieces = nullptr) noexcept SCS_NONBLOCKING;
        ~Entry() noexcept SCS_NONBLOCKING;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        /// Undoes what the delivery of the signal changed, and what the code did to the thread's exceptions.
        void recover() const noexcept SCS_NONBLOCKING;

    private:
        sigjmp_buf* outer_;
        sigjmp_buf* outer_caller_;
        const GuardedPieces* outer_pieces_;
        FloatMode float_mode_;

    protected:
        bool outer_unhurried_;
    };

    class UnhurriedEntry : public Entry {
    public:
        explicit UnhurriedEntry(sigjmp_buf* target) noexcept SCS_NONBLOCKING;
    };

    /// The same, also for faults in host code.
    class HostEntry : public Entry {
    public:
        explicit HostEntry(sigjmp_buf* target) noexcept SCS_NONBLOCKING;
        ~HostEntry() noexcept SCS_NONBLOCKING;

    private:
        sigjmp_buf* outer_host_;
    };

    static void note_exception() noexcept;

    SCS_UNPROVEN_BEGIN // it catches what plugins throw
    template <class E, class F, class... Pieces>
    static bool guarded(F&& f, Pieces... pieces) noexcept SCS_NONBLOCKING {
        sigjmp_buf here;
        const E entry(&here, pieces...);
        if (sigsetjmp(here, 0) != 0) {
            entry.recover();
            return false;
        }
        try {
            f();
            return true;
        } catch (...) {
            note_exception();
            return false;
        }
    }
    SCS_UNPROVEN_END
};

/// The place that a fault in FaultGuard::run_pieces() jumps to. [any]
class FaultLanding {
public:
    /// Plugin code begins; `pieces` must live until leave().
    void enter(const GuardedPieces& pieces) noexcept SCS_NONBLOCKING;
    /// Host code goes on.
    void leave() noexcept SCS_NONBLOCKING;

private:
    friend class FaultGuard;
    explicit FaultLanding(sigjmp_buf* here) noexcept : here_(here) {}
    sigjmp_buf* here_;
};

SCS_UNPROVEN_BEGIN // it catches what plugins throw
template <class F>
bool FaultGuard::run_pieces(F&& f) noexcept SCS_NONBLOCKING {
    sigjmp_buf here;
    const Entry entry(&here);
    FaultLanding landing(&here);
    landing.leave();
    if (sigsetjmp(here, 0) != 0) {
        entry.recover();
        return false;
    }
    try {
        f(landing);
        return true;
    } catch (...) {
        note_exception();
        return false;
    }
}
SCS_UNPROVEN_END

} // namespace scs

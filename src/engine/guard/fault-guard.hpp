// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pthread.h>
#include <setjmp.h>

namespace scs {

class FaultLanding;

/// Runs code so that a crash of it ends that code alone and not the process: a SIGSEGV, SIGBUS, SIGFPE or SIGILL that
/// it causes, or interrupt(), jumps back out of it; an exception ends there, too. What it was about to change stays
/// half changed, and what it held on its stack is not destroyed. Signals of any other origin go where they went before.
class FaultGuard {
public:
    /// [worker] Installs the signal handlers, once a process.
    static void install();

    /// [rt] Gives this thread a stack for the handlers, for when its own overflows. Costs a system call, the first
    /// time; of a process's first eight threads only.
    static void prepare_thread() noexcept;

    /// What an interrupt ends.
    enum class Reach { plugins, all };
    /// [any] Ends what `thread` runs under guard, if it does; host code only with Reach::all. The thread must exist.
    static void interrupt(pthread_t thread, Reach) noexcept;

    /// [any] Runs a plugin's code f(). False: it was ended by a fault.
    template <class F>
    static bool run(F&& f) noexcept {
        return guarded<Entry>(f);
    }

    /// [any] Runs host code f(), the plugins' code within it and what that calls back. False: it was ended by a fault,
    /// which was not a plugin's own.
    template <class F>
    static bool run_host(F&& f) noexcept {
        return guarded<HostEntry>(f);
    }

    /// [any] Runs host code f(FaultLanding&) that calls many pieces of plugins' code, each between the landing's
    /// enter() and leave(): cheaper than a run() for each. False: a piece was ended by a fault.
    template <class F>
    static bool run_pieces(F&& f) noexcept;

    /// While it lives, host code runs that a plugin called and that must not be left half done: a fault ends the
    /// run_host() around it.
    class HostCode {
    public:
        HostCode() noexcept;
        ~HostCode();
        HostCode(const HostCode&) = delete;
        HostCode& operator=(const HostCode&) = delete;

    private:
        sigjmp_buf* interrupted_;
    };

private:
    /// Makes `target` the place to jump to, and the one before it again at the end.
    class Entry {
    public:
        explicit Entry(sigjmp_buf* target) noexcept;
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        /// Restores what a signal's delivery changed.
        void recover() const noexcept;

    private:
        sigjmp_buf* outer_;
        unsigned float_mode_;
    };

    /// And the place that host code jumps to.
    class HostEntry : public Entry {
    public:
        explicit HostEntry(sigjmp_buf* target) noexcept;
        ~HostEntry();

    private:
        sigjmp_buf* outer_host_;
    };

    template <class E, class F>
    static bool guarded(F&& f) noexcept {
        sigjmp_buf here;
        const E entry(&here);
        if (sigsetjmp(here, 0) != 0) {
            entry.recover();
            return false;
        }
        try {
            f();
            return true;
        } catch (...) {
            return false;
        }
    }
};

/// Where FaultGuard::run_pieces() comes back to. [any]
class FaultLanding {
public:
    /// Plugin code begins.
    void enter() noexcept;
    /// Host code goes on.
    void leave() noexcept;

private:
    friend class FaultGuard;
    explicit FaultLanding(sigjmp_buf* here) noexcept : here_(here) {}
    sigjmp_buf* here_;
};

template <class F>
bool FaultGuard::run_pieces(F&& f) noexcept {
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
        return false;
    }
}

} // namespace scs

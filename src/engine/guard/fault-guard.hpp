// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pthread.h>
#include <setjmp.h>

namespace scs {

class FaultLanding;

/// Runs code so that its crash ends that code alone and not the process. A SIGSEGV, SIGBUS, SIGFPE or SIGILL that the
/// code causes, and interrupt(), jump back out of it. An exception ends there, too. What the code was changing stays
/// half changed, and objects on its stack are not destroyed. Signals of any other origin go to the handlers that were
/// there before.
class FaultGuard {
public:
    /// [worker] Installs the signal handlers, once a process.
    static void install();

    /// [rt] Gives this thread a second stack for the handlers, in case its own overflows. Makes a system call the first
    /// time. Works for the first eight threads of a process.
    static void prepare_thread() noexcept;

    /// Which code an interrupt may end.
    enum class Reach { plugins, all };
    /// [any] Ends the guarded code that `thread` is running, if any; host code only with Reach::all. The thread must
    /// exist.
    static void interrupt(pthread_t thread, Reach) noexcept;

    /// [any] Runs a plugin's code f(). false: a fault ended it.
    template <class F>
    static bool run(F&& f) noexcept {
        return guarded<Entry>(f);
    }

    /// [any] Runs host code f(), which may run plugins' code that calls back into the host. false: a fault in host code
    /// ended it.
    template <class F>
    static bool run_host(F&& f) noexcept {
        return guarded<HostEntry>(f);
    }

    /// [any] Runs host code f(FaultLanding&) that calls many pieces of plugins' code, each between the landing's
    /// enter() and leave(). Cheaper than a run() for each. false: a fault in a piece ended it.
    template <class F>
    static bool run_pieces(F&& f) noexcept;

    /// Marks host code that a plugin has called and that must not be left half done. While it lives, a fault ends the
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
    /// Makes `target` the place that faults jump to; the destructor restores the previous one.
    class Entry {
    public:
        explicit Entry(sigjmp_buf* target) noexcept;
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        /// Undoes what the delivery of the signal changed.
        void recover() const noexcept;

    private:
        sigjmp_buf* outer_;
        unsigned float_mode_;
    };

    /// The same, also for faults in host code.
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

/// The place that a fault in FaultGuard::run_pieces() jumps to. [any]
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

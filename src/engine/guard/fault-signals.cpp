// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-signals.hpp"

#include "engine/guard/abort-cause.hpp"
#include "engine/guard/crash-report.hpp"
#include "engine/guard/guard-state.hpp"
#include "engine/guard/hang-watch.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace scs {
namespace {

constexpr std::array handled{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, HangWatch::signal};
std::array<struct sigaction, handled.size()> before;

/// Whether the kernel sent it for something that this thread did.
bool is_fault(int signal, const siginfo_t& info) noexcept {
    return info.si_code > 0 && signal != SIGABRT && signal != HangWatch::signal;
}

void call(const struct sigaction& handler, int signal, siginfo_t* info, void* context) noexcept {
    sigset_t blocked = handler.sa_mask, outer;
    if (!(handler.sa_flags & SA_NODEFER))
        sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &outer);
    if (handler.sa_flags & SA_SIGINFO)
        handler.sa_sigaction(signal, info, context);
    else
        handler.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &outer, nullptr);
}

void act_by_default(int signal) noexcept {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

/// Does what would have happened without our handler. `crash`: it is this thread's own doing.
void pass_on(int signal, siginfo_t* info, void* context, bool crash) noexcept {
    for (size_t i = 0; i < handled.size(); ++i) {
        if (handled[i] != signal)
            continue;
        const struct sigaction& old = before[i];
        const bool ignored = !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_IGN;
        const bool by_default = !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL;
        if (by_default || (ignored && is_fault(signal, *info))) { // nobody can ignore a fault
            if (crash)
                report_crash(signal);
            act_by_default(signal);
            if (!is_fault(signal, *info) || signal == SIGTRAP)
                ::raise(signal); // other faults are raised again when their instruction runs again
        } else if (!ignored) {
            call(old, signal, info, context);
        }
    }
}

void on_abort(siginfo_t* info, void* context) noexcept {
    bool crash = raised_by_this_thread(SIGABRT, *info, context);
    if (crash) {
        const AbortCause cause = abort_cause();
        if (!cause.contained)
            report_heap_corruption(cause.text);
        else if (guard_state.target)
            end_guarded(FaultGuard::Ending::abort);
        crash = cause.contained;
    }
    pass_on(SIGABRT, info, context, crash);
}

void on_signal(int signal, siginfo_t* info, void* context) {
    if (signal == SIGABRT) {
        on_abort(info, context);
    } else if (signal == HangWatch::signal && HangWatch::is_tick(*info)) {
        HangWatch::tick(context);
    } else if (signal == HangWatch::signal && HangWatch::is_nudge(*info)) {
        HangWatch::nudged();
    } else {
        if (is_fault(signal, *info) && guard_state.target)
            end_guarded(FaultGuard::Ending::fault);
        pass_on(signal, info, context, is_fault(signal, *info));
    }
}

/// Parts of the process have been taken down by now, and the C library may hold a lock, so the plugin's code can't just
/// be left. It ends as by a crash: a manager of services starts a program again that has crashed, not one that exits
/// with status 0.
void on_exit_called() {
    if (!guard_state.in_plugin())
        return;
    report_exit();
    act_by_default(SIGABRT);
    std::abort();
}

} // namespace

void install_fault_handlers() {
    prepare_abort_cause();
    HangWatch::prepare();
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    // SA_NODEFER: the handler is left by a jump, and its signal must not stay blocked then.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < handled.size(); ++i)
        ::sigaction(handled[i], &action, &before[i]);
    watch_exit();
}

void watch_exit() noexcept {
    std::atexit(on_exit_called);
    std::at_quick_exit(on_exit_called);
}

void end_process() noexcept {
    report_crash(SIGSEGV);
    act_by_default(SIGSEGV);
    sigset_t crash;
    sigemptyset(&crash);
    sigaddset(&crash, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &crash, nullptr);
    ::raise(SIGSEGV);
    ::_exit(128 + SIGSEGV);
}

} // namespace scs

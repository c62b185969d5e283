// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-signals.hpp"

#include "engine/guard/abort-cause.hpp"
#include "engine/guard/guard-state.hpp"
#include "engine/guard/hang-watch.hpp"
#include "engine/guard/heap-report.hpp"

#include <array>
#include <csignal>
#include <pthread.h>

namespace scs {
namespace {

constexpr std::array handled{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, HangWatch::signal};
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

/// Does what would have happened without our handler.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
    for (size_t i = 0; i < handled.size(); ++i) {
        if (handled[i] != signal)
            continue;
        const struct sigaction& old = before[i];
        const bool ignored = !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_IGN;
        const bool by_default = !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL;
        if (by_default || (ignored && is_fault(signal, *info))) { // nobody can ignore a fault
            struct sigaction ends {};
            ends.sa_handler = SIG_DFL;
            ::sigaction(signal, &ends, nullptr);
            if (!is_fault(signal, *info))
                ::raise(signal); // a fault is raised again when its instruction runs again
        } else if (!ignored) {
            call(old, signal, info, context);
        }
    }
}

void on_abort(siginfo_t* info, void* context) noexcept {
    if (raised_by_this_thread(SIGABRT, *info, context)) {
        const AbortCause cause = abort_cause();
        if (!cause.contained)
            report_heap_corruption(cause.text);
        else if (guard_state.target)
            end_guarded(FaultGuard::Ending::abort);
    }
    pass_on(SIGABRT, info, context);
}

void on_signal(int signal, siginfo_t* info, void* context) {
    if (signal == SIGABRT) {
        on_abort(info, context);
    } else if (signal == HangWatch::signal && HangWatch::is_tick(*info)) {
        HangWatch::tick(context);
    } else {
        if (is_fault(signal, *info) && guard_state.target)
            end_guarded(FaultGuard::Ending::fault);
        pass_on(signal, info, context);
    }
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
}

} // namespace scs

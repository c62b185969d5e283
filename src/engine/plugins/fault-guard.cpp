// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/fault-guard.hpp"

#include <array>
#include <csignal>
#include <mutex>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace scs {
namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};

// Initial-exec: the lazy kind of thread-local storage would allocate when a data loop first touches it.
[[gnu::tls_model("initial-exec")]] thread_local sigjmp_buf* target = nullptr;

std::array<struct sigaction, faults.size()> before;

bool is_ours(int signal, const siginfo_t& info) noexcept {
    if (signal == SIGXCPU)
        return info.si_code == SI_TKILL && info.si_pid == getpid();
    return info.si_code > 0; // by the kernel, for what this thread did
}

/// Does what would have been done without us.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
    for (size_t i = 0; i < faults.size(); ++i) {
        if (faults[i] != signal)
            continue;
        const struct sigaction& old = before[i];
        if (old.sa_flags & SA_SIGINFO) {
            old.sa_sigaction(signal, info, context);
        } else if (old.sa_handler == SIG_DFL) {
            ::sigaction(signal, &old, nullptr);
            if (info->si_code <= 0 || signal == SIGXCPU)
                ::raise(signal); // a fault comes back by itself when its instruction runs again
        } else if (old.sa_handler != SIG_IGN) {
            old.sa_handler(signal);
        }
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    const bool ours = is_ours(signal, *info);
    if (ours && target)
        siglongjmp(*target, 1);
    if (ours && signal == SIGXCPU)
        return; // too late, or in host code: whoever sent it will try again
    pass_on(signal, info, context);
}

unsigned float_mode() noexcept {
#if defined(__SSE2__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

} // namespace

void FaultGuard::install() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action{};
        action.sa_sigaction = on_fault;
        // A handler that is left by a jump: its signal must not stay blocked.
        action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < faults.size(); ++i)
            ::sigaction(faults[i], &action, &before[i]);
    });
}

void FaultGuard::interrupt(pthread_t thread) noexcept {
    pthread_kill(thread, SIGXCPU);
}

FaultGuard::Entry::Entry(sigjmp_buf* here) noexcept : outer_(target), float_mode_(float_mode()) {
    target = here;
}

FaultGuard::Entry::~Entry() {
    target = outer_;
}

void FaultGuard::Entry::recover() const noexcept {
#if defined(__SSE2__)
    _mm_setcsr(float_mode_);
#endif
}

FaultGuard::HostCode::HostCode() noexcept : interrupted_(target) {
    target = nullptr;
}

FaultGuard::HostCode::~HostCode() {
    target = interrupted_;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-guard.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace scs {
namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};

// Initial-exec: other thread-local storage would be allocated when the data loop first touches it.
[[gnu::tls_model("initial-exec")]] thread_local sigjmp_buf* target = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local sigjmp_buf* host_target = nullptr;

[[gnu::tls_model("initial-exec")]] thread_local bool prepared = false;

// Never freed: they belong to threads that may outlive every engine.
constexpr size_t stack_bytes = 65536;
std::array<std::unique_ptr<std::byte[]>, 8>& stacks() {
    static auto* all = new std::array<std::unique_ptr<std::byte[]>, 8>;
    return *all;
}
std::atomic<size_t> stacks_taken{0};

std::array<struct sigaction, faults.size()> before;

bool is_ours(int signal, const siginfo_t& info) noexcept {
    if (signal == SIGXCPU)
        return info.si_code == SI_QUEUE && info.si_pid == getpid();
    return info.si_code > 0; // sent by the kernel for something this thread did
}

/// Does what would have happened without our handler.
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
                ::raise(signal); // a fault is raised again when its instruction runs again
        } else if (old.sa_handler != SIG_IGN) {
            old.sa_handler(signal);
        }
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    if (!is_ours(signal, *info)) {
        pass_on(signal, info, context);
        return;
    }
    const bool too_short =
        signal == SIGXCPU && target == host_target && info->si_value.sival_int == int(FaultGuard::Reach::plugins);
    if (target && !too_short)
        siglongjmp(*target, 1);
    if (signal != SIGXCPU) // SIGXCPU isn't passed on: its sender tries again
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
        for (auto& stack : stacks())
            stack = std::make_unique<std::byte[]>(stack_bytes);
        struct sigaction action {};
        action.sa_sigaction = on_fault;
        // SA_NODEFER: the handler is left by a jump, and its signal must not stay blocked then.
        action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < faults.size(); ++i)
            ::sigaction(faults[i], &action, &before[i]);
    });
}

void FaultGuard::prepare_thread() noexcept {
    if (prepared)
        return;
    prepared = true;
    stack_t stack;
    if (::sigaltstack(nullptr, &stack) != 0 || !(stack.ss_flags & SS_DISABLE))
        return;
    const size_t index = stacks_taken.fetch_add(1, std::memory_order_relaxed);
    if (index >= stacks().size())
        return;
    stack = {};
    stack.ss_sp = stacks()[index].get();
    stack.ss_size = stack_bytes;
    ::sigaltstack(&stack, nullptr);
}

void FaultGuard::interrupt(pthread_t thread, Reach reach) noexcept {
    sigval value;
    value.sival_int = int(reach);
    pthread_sigqueue(thread, SIGXCPU, value);
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

void FaultLanding::enter() noexcept {
    target = here_;
}

void FaultLanding::leave() noexcept {
    target = host_target;
}

FaultGuard::HostEntry::HostEntry(sigjmp_buf* here) noexcept : Entry(here), outer_host_(host_target) {
    host_target = here;
}

FaultGuard::HostEntry::~HostEntry() {
    host_target = outer_host_;
}

FaultGuard::HostCode::HostCode() noexcept : interrupted_(target) {
    target = host_target;
}

FaultGuard::HostCode::~HostCode() {
    target = interrupted_;
}

} // namespace scs

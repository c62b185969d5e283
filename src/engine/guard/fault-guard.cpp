// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-guard.hpp"
#include "engine/base/nonblocking.hpp"

#include "engine/guard/fault-signals.hpp"
#include "engine/guard/guard-state.hpp"
#include "engine/guard/hang-watch.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cxxabi.h>
#include <memory>
#include <mutex>

namespace scs {

// Thread-local storage of this model is there from the start. A thread's first call makes a system call.
SCS_UNPROVEN_BEGIN

[[gnu::tls_model("initial-exec")]] constinit thread_local GuardState guard_state{};

namespace {

[[gnu::tls_model("initial-exec")]] thread_local bool prepared = false;

// Never freed: they belong to threads that may outlive every engine.
constexpr size_t stack_bytes = 65536;
std::array<std::unique_ptr<std::byte[]>, 8>& stacks() {
    static auto* all = new std::array<std::unique_ptr<std::byte[]>, 8>;
    return *all;
}
std::atomic<size_t> stacks_taken{0};

bool has_second_stack() noexcept SCS_NONBLOCKING {
    stack_t stack;
    return ::sigaltstack(nullptr, &stack) != 0 || !(stack.ss_flags & SS_DISABLE);
}

/// null: none any more.
void use_second_stack(std::byte* memory) noexcept SCS_NONBLOCKING {
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = memory ? stack_bytes : 0;
    stack.ss_flags = memory ? 0 : SS_DISABLE;
    ::sigaltstack(&stack, nullptr);
}

std::atomic<bool> installed{false};

/// What the C++ ABI says that a thread's exceptions are: the stack of those caught, and how many are in flight.
struct Exceptions {
    void* caught;
    unsigned uncaught;
};

/// Allocated when a thread first asks for it, so it isn't asked for before it is needed.
Exceptions& exceptions() noexcept {
    return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

/// Chooses where the guarded code is left to. What a piece of code has written beyond its array on the stack may have
/// spoilt the nearest place: then it is the host code's, and if that is spoilt, too, the process ends.
void choose_way_out() noexcept {
    using Leaving = GuardState::Leaving;
    GuardState& state = guard_state;
    if (state.leaving == Leaving::nowhere) {
        state.leaving = state.in_host() ? Leaving::to_host : Leaving::to_target;
        return;
    }
    if (state.leaving == Leaving::to_host || !state.host_target)
        end_process();
    state.leaving = Leaving::to_host;
    state.target = state.host_target;
}

} // namespace

void end_guarded(FaultGuard::Ending why) noexcept {
    choose_way_out();
    guard_state.ending = why;
    guard_state.overdue = false;
    if (why == FaultGuard::Ending::endless)
        HangWatch::let_others_run();
    siglongjmp(*guard_state.target, 1);
}

void FaultGuard::install() {
    static std::once_flag once;
    if (installed.load(std::memory_order_acquire))
        return; // call_once() has the thread allocate thread-local storage
    std::call_once(once, [] {
        for (auto& stack : stacks())
            stack = std::make_unique<std::byte[]>(stack_bytes);
        install_fault_handlers();
        installed.store(true, std::memory_order_release);
    });
}

void FaultGuard::prepare_thread() noexcept {
    if (prepared)
        return;
    prepared = true;
    if (has_second_stack())
        return;
    const size_t index = stacks_taken.fetch_add(1, std::memory_order_relaxed);
    if (index < stacks().size())
        use_second_stack(stacks()[index].get());
}

FaultGuard::SecondStack::SecondStack() : memory_(std::make_unique<std::byte[]>(stack_bytes)) {}

void FaultGuard::SecondStack::use() noexcept {
    used_ = !has_second_stack();
    if (used_)
        use_second_stack(memory_.get());
}

void FaultGuard::SecondStack::leave() noexcept {
    if (used_)
        use_second_stack(nullptr);
}

bool FaultGuard::watch_thread(Patience patience) noexcept {
    install();
    return HangWatch::begin(patience);
}

void FaultGuard::unwatch_thread() noexcept {
    HangWatch::end();
}

int32_t FaultGuard::watched_thread() noexcept {
    return HangWatch::watched_thread();
}

void FaultGuard::look_for_wait(int32_t thread) noexcept {
    HangWatch::nudge(thread);
}

FaultGuard::TimeLimit::TimeLimit(int seconds) noexcept : limited_(seconds > 0) {
    if (!limited_)
        return;
    install();
    (void)HangWatch::begin_limit(seconds);
}

FaultGuard::TimeLimit::~TimeLimit() {
    if (limited_)
        HangWatch::end();
}

const GuardedPieces* FaultGuard::running_pieces() noexcept {
    return guard_state.in_plugin() ? guard_state.pieces : nullptr;
}

void FaultGuard::progress() noexcept {
    ++guard_state.progress;
}

void FaultGuard::give_up() noexcept {
    guard_state.target = guard_state.host_target;
    end_guarded(Ending::endless);
}

FaultGuard::Ending FaultGuard::last_ending() noexcept {
    return guard_state.ending;
}

void FaultGuard::note_exception() noexcept {
    guard_state.ending = Ending::fault;
}

FaultGuard::Entry::Entry(sigjmp_buf* here, const GuardedPieces* pieces) noexcept
    : outer_(guard_state.target),
      outer_caller_(guard_state.caller),
      outer_pieces_(guard_state.pieces),
      float_mode_(float_mode()),
      outer_unhurried_(guard_state.unhurried) {
    GuardState& state = guard_state;
    state.pieces = pieces;
    state.unhurried = false;
    ++state.entries;
    signal_fence();
    state.caller = nullptr;
    state.target = here;
}

FaultGuard::Entry::~Entry() noexcept {
    GuardState& state = guard_state;
    state.target = outer_;
    state.caller = outer_caller_;
    signal_fence();
    ++state.entries;
    state.unhurried = outer_unhurried_;
    state.pieces = outer_pieces_;
}

void FaultGuard::Entry::recover() const noexcept {
    guard_state.leaving = GuardState::Leaving::nowhere;
    // std::terminate() leaves the exceptions of the ended code behind. The host has none while guarded code runs.
    if (guard_state.ending == Ending::abort)
        exceptions() = {};
    set_float_mode(float_mode_);
}

FaultGuard::UnhurriedEntry::UnhurriedEntry(sigjmp_buf* here) noexcept : Entry(here) {
    guard_state.unhurried = true;
}

FaultGuard::HostEntry::HostEntry(sigjmp_buf* here) noexcept : Entry(here), outer_host_(guard_state.host_target) {
    guard_state.host_target = here;
}

FaultGuard::HostEntry::~HostEntry() noexcept {
    guard_state.host_target = outer_host_;
}

void FaultLanding::enter(const GuardedPieces& pieces) noexcept {
    GuardState& state = guard_state;
    state.pieces = &pieces;
    ++state.entries;
    signal_fence();
    state.target = here_;
}

void FaultLanding::leave() noexcept {
    guard_state.target = guard_state.host_target;
}

FaultGuard::HostCode::HostCode() noexcept : interrupted_(guard_state.target), outer_caller_(guard_state.caller) {
    GuardState& state = guard_state;
    ++state.progress;
    if (!state.in_host())
        state.caller = state.target;
    signal_fence();
    state.target = state.host_target;
}

FaultGuard::HostCode::~HostCode() noexcept {
    GuardState& state = guard_state;
    state.target = interrupted_;
    signal_fence();
    state.caller = outer_caller_;
    if (state.overdue && !state.in_host())
        end_guarded(Ending::endless);
}

SCS_UNPROVEN_END

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/abort-cause.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace scs {
namespace {

// When glibc finds something wrong it prints a message, keeps it in this variable, which is meant for debuggers and
// crash reports, and calls abort(). Whoever calls abort() otherwise leaves the variable alone. It may then still have
// the message of an earlier abort() that was contained, whose cause was harmless, too: the others end the process.
// Nothing else tells the causes apart: a stack walk needs tables that the handler can't read safely, and the functions
// in question aren't exported. While malloc and free find a corrupted heap they may hold the lock of the arena, so
// leaving them by a jump would make a later call wait for ever. The other causes hold nothing.
struct AbortMessage {
    unsigned size;
    char text[1];
};
std::atomic<AbortMessage*>* message = nullptr;

/// What the messages of the harmless causes begin with or contain.
bool is_harmless(std::string_view text) noexcept {
    if (text.starts_with("Fatal glibc error"))
        return false;
    return text.starts_with("*** stack smashing detected ***") ||
           text.starts_with("*** buffer overflow detected ***") || text.find(": Assertion `") != text.npos;
}

/// Up to glibc 2.35 the allocator's own assertions leave no message.
bool tells_all_causes() noexcept {
    int major = 0, minor = 0;
    return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
           (major > 2 || (major == 2 && minor >= 36));
}

} // namespace

void prepare_abort_cause() noexcept {
    static_assert(sizeof(std::atomic<AbortMessage*>) == sizeof(AbortMessage*));
    if (tells_all_causes())
        message = static_cast<std::atomic<AbortMessage*>*>(dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
}

AbortCause abort_cause() noexcept {
    if (!message)
        return {false, {}}; // it might be the heap
    const AbortMessage* const found = message->load(std::memory_order_acquire);
    if (!found)
        return {true, {}};
    std::string_view text(found->text, strnlen(found->text, found->size));
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    return {is_harmless(text), text};
}

bool raised_by_this_thread(int signal, const siginfo_t& info, const void* context) noexcept {
    if (info.si_code != SI_TKILL || info.si_pid != getpid())
        return false;
    // Who of the process sent it isn't told. But a signal that a thread sends to itself comes at the instruction after
    // the system call, whose arguments are still in the registers.
    [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    const auto* at = reinterpret_cast<const unsigned char*>(machine.gregs[REG_RIP]);
    return machine.gregs[REG_RDI] == getpid() && machine.gregs[REG_RSI] == gettid() &&
           machine.gregs[REG_RDX] == signal && at[-2] == 0x0f && at[-1] == 0x05;
#elif defined(__aarch64__)
    return machine.regs[8] == SYS_tgkill && machine.regs[1] == uint64_t(gettid()) &&
           machine.regs[2] == uint64_t(signal);
#else
    (void)signal;
    return true;
#endif
}

} // namespace scs

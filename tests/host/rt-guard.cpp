// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt-guard.hpp"

#include "engine/base/test-sanitized.hpp"

#if defined(__x86_64__) && !defined(SCS_SANITIZED)
#define SCS_RT_GUARD 1
#endif

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

namespace scs::test {
namespace {

struct Record {
    const char* function; ///< null: a system call
    long number;
    void* address;
    void* caller; ///< where the C library's function was called that made the system call, if it is one of those below
};

constexpr size_t max_records = 1024;
std::array<Record, max_records> records;
std::atomic<size_t> record_count{0};
// initial-exec: the variables are in the executable itself, so that reading them needs no allocation.
thread_local int scope_depth __attribute__((tls_model("initial-exec"))) = 0;
thread_local void* library_caller __attribute__((tls_model("initial-exec"))) = nullptr;

/// While it lives, the thread is in a function of the C library that was called from `caller`.
class [[maybe_unused]] InLibrary {
public:
    explicit InLibrary(void* caller) noexcept : outer_(library_caller) { library_caller = caller; }
    ~InLibrary() { library_caller = outer_; }
    InLibrary(const InLibrary&) = delete;
    InLibrary& operator=(const InLibrary&) = delete;

private:
    void* outer_;
};

[[maybe_unused]] void record(const char* function, long number, void* address, void* caller = nullptr) noexcept {
    const size_t i = record_count.fetch_add(1);
    if (i < max_records)
        records[i] = {function, number, address, caller};
}

std::string place(void* address) {
    Dl_info info;
    char text[64];
    if (!address || !dladdr(address, &info) || !info.dli_fname) {
        std::snprintf(text, sizeof text, "%p", address);
        return text;
    }
    const auto offset = static_cast<char*>(address) - static_cast<char*>(info.dli_fbase);
    std::snprintf(text, sizeof text, "+0x%zx", size_t(offset));
    std::string where = std::string(info.dli_fname) + text;
    if (info.dli_sname)
        where += std::string(" ") + info.dli_sname;
    return where;
}

} // namespace

RtScope::RtScope() noexcept {
    ++scope_depth;
}

RtScope::~RtScope() {
    --scope_depth;
}

std::vector<Breach> take_breaches(const std::vector<Allowed>& allowed) {
    std::vector<Breach> breaches;
    const size_t count = std::min(record_count.load(), max_records);
    for (size_t i = 0; i < count; ++i) {
        const Record& r = records[i];
        Breach breach;
        breach.what = r.function ? r.function : "system call " + std::to_string(r.number);
        breach.where = place(r.address);
        if (r.caller)
            breach.where += ", from " + place(r.caller);
        bool known = false;
        for (const Allowed& each : allowed)
            known |= each.what == breach.what && breach.where.find(each.where) != std::string::npos;
        if (!known)
            breaches.push_back(breach);
    }
    record_count = 0;
    return breaches;
}

#if !defined(SCS_RT_GUARD)

bool rt_guard_works(std::string& reason) {
    reason = "no guard in this build: it has a sanitizer, or isn't for x86-64";
    return false;
}

void guard_thread() {}

#else

bool rt_guard_works(std::string&) {
    return true;
}

// The only place whose system calls aren't trapped: the handler makes its own here.
asm(R"(
    .text
    .globl scs_pass_syscall
    .hidden scs_pass_syscall
    .globl scs_pass_syscall_end
    .hidden scs_pass_syscall_end
    .type scs_pass_syscall, @function
scs_pass_syscall:
    movq 0(%rdi), %rax
    movq 16(%rdi), %rsi
    movq 24(%rdi), %rdx
    movq 32(%rdi), %r10
    movq 40(%rdi), %r8
    movq 48(%rdi), %r9
    movq 8(%rdi), %rdi
    syscall
scs_pass_syscall_end:
    ret
    .size scs_pass_syscall, . - scs_pass_syscall
)");
extern "C" long scs_pass_syscall(const long* number_and_arguments);
extern "C" const char scs_pass_syscall_end[];

namespace {

/// Runs in place of the trapped system call: makes it, and records it if it is a breach.
void on_trap(int, siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (scope_depth > 0)
        record(nullptr, info->si_syscall, info->si_call_addr, library_caller);
    const long call[] = {info->si_syscall,   registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                         registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    registers[REG_RAX] = scs_pass_syscall(call);
}

} // namespace

void guard_thread() {
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSYS, &action, nullptr);

    // The kernel compares the address after the instruction.
    const auto passed = reinterpret_cast<uintptr_t>(scs_pass_syscall_end);
    constexpr auto ip = uint32_t(offsetof(seccomp_data, instruction_pointer));
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 7, 0),
        // What the watch over hanging code does in its signal, see HangWatch::tick().
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 5, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(passed), 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(uint64_t(passed) >> 32), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {uint16_t(std::size(filter)), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        throw std::runtime_error("the kernel has no seccomp filters");
}

#endif

} // namespace scs::test

#if defined(SCS_RT_GUARD)

// ---- functions of the C library that check first whether the thread is in a scope

namespace {

using scs::test::InLibrary;
using scs::test::record;
using scs::test::scope_depth;

#define NOTE(name)                                                                                                     \
    const InLibrary in_library(__builtin_return_address(0));                                                           \
    if (scope_depth > 0)                                                                                               \
    record(#name, 0, __builtin_return_address(0))

/// The next definition of a function, looked up once. Not a local static, whose guard may lock.
template <class F>
F* next(std::atomic<F*>& cached, const char* name) noexcept {
    F* found = cached.load(std::memory_order_relaxed);
    if (!found) {
        found = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
        cached.store(found, std::memory_order_relaxed);
    }
    return found;
}

#define NEXT(name, ...)                                                                                                \
    [] {                                                                                                               \
        using F = __VA_ARGS__;                                                                                         \
        static constinit std::atomic<F*> cached{nullptr};                                                              \
        return next<F>(cached, #name);                                                                                 \
    }()

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
    NOTE(malloc);
    return __libc_malloc(size);
}

void free(void* memory) {
    NOTE(free);
    __libc_free(memory);
}

void* calloc(size_t count, size_t size) {
    NOTE(calloc);
    return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
    NOTE(realloc);
    return __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
    NOTE(aligned_alloc);
    return __libc_memalign(alignment, size);
}

void* memalign(size_t alignment, size_t size) {
    NOTE(memalign);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
    NOTE(posix_memalign);
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    void* found = __libc_memalign(alignment, size);
    if (!found)
        return ENOMEM;
    *memory = found;
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    NOTE(pthread_mutex_lock);
    return NEXT(pthread_mutex_lock, int(pthread_mutex_t*))(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
    NOTE(pthread_mutex_trylock);
    return NEXT(pthread_mutex_trylock, int(pthread_mutex_t*))(mutex);
}

// Unlocking itself is harmless, but may have to wake another thread.
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
    const InLibrary in_library(__builtin_return_address(0));
    return NEXT(pthread_mutex_unlock, int(pthread_mutex_t*))(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
    NOTE(pthread_rwlock_rdlock);
    return NEXT(pthread_rwlock_rdlock, int(pthread_rwlock_t*))(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
    NOTE(pthread_rwlock_wrlock);
    return NEXT(pthread_rwlock_wrlock, int(pthread_rwlock_t*))(lock);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    NOTE(pthread_cond_wait);
    return NEXT(pthread_cond_wait, int(pthread_cond_t*, pthread_mutex_t*))(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
    NOTE(pthread_cond_timedwait);
    return NEXT(pthread_cond_timedwait, int(pthread_cond_t*, pthread_mutex_t*, const timespec*))(condition, mutex,
                                                                                                 until);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    NOTE(pthread_cond_clockwait);
    using F = int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
    return NEXT(pthread_cond_clockwait, F)(condition, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t* condition) {
    NOTE(pthread_cond_signal);
    return NEXT(pthread_cond_signal, int(pthread_cond_t*))(condition);
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
    NOTE(pthread_cond_broadcast);
    return NEXT(pthread_cond_broadcast, int(pthread_cond_t*))(condition);
}

int sem_wait(sem_t* semaphore) {
    NOTE(sem_wait);
    return NEXT(sem_wait, int(sem_t*))(semaphore);
}

int sem_post(sem_t* semaphore) {
    NOTE(sem_post);
    return NEXT(sem_post, int(sem_t*))(semaphore);
}

// The C library locks its streams and its random numbers without calling the functions above. There needn't be a system
// call either, because printed text may stay in a buffer.

int puts(const char* text) {
    NOTE(puts);
    return NEXT(puts, int(const char*))(text);
}

int putchar(int letter) {
    NOTE(putchar);
    return NEXT(putchar, int(int))(letter);
}

int fputs(const char* text, FILE* stream) {
    NOTE(fputs);
    return NEXT(fputs, int(const char*, FILE*))(text, stream);
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
    NOTE(fwrite);
    return NEXT(fwrite, size_t(const void*, size_t, size_t, FILE*))(data, size, count, stream);
}

int printf(const char* format, ...) {
    NOTE(printf);
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vprintf(format, arguments);
    va_end(arguments);
    return length;
}

int fprintf(FILE* stream, const char* format, ...) {
    NOTE(fprintf);
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vfprintf(stream, format, arguments);
    va_end(arguments);
    return length;
}

// The names of the two functions above under _FORTIFY_SOURCE.
int __printf_chk(int, const char* format, ...) {
    NOTE(printf);
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vprintf(format, arguments);
    va_end(arguments);
    return length;
}

int __fprintf_chk(FILE* stream, int, const char* format, ...) {
    NOTE(fprintf);
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vfprintf(stream, format, arguments);
    va_end(arguments);
    return length;
}

int rand() {
    NOTE(rand);
    return NEXT(rand, int())();
}

} // extern "C"
#pragma GCC visibility pop

#endif

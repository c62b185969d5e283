// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/hang-watch.hpp"

#include "engine/guard/guard-state.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace scs {
namespace {

constexpr int64_t milliseconds = 1'000'000; ///< ns

struct Limits {
    int64_t plugin, host, tick; ///< ns
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    bool from_the_start = false; ///< the first tick comes at the limit of all that a plugin does, not of one piece
};
constexpr Limits limits_of(FaultGuard::Patience patience) noexcept {
    return patience == FaultGuard::Patience::little
               ? Limits{30 * milliseconds, 60 * milliseconds, 10 * milliseconds}
               : Limits{5000 * milliseconds, 5000 * milliseconds, 500 * milliseconds};
}

/// Processor time without a rest after which a thread is given one. The kernel kills the process after 200 ms of it, in
/// ticks of its own, where PipeWire has its priority through RTKit, whoever takes that time.
constexpr int64_t longest_without_rest = 80 * milliseconds;

/// Nudges in a row between which a plugin's code may only wait.
constexpr int most_waits = 3;

/// How long ticks have found the same.
class Unchanged {
public:
    void forget() noexcept { since_ = -1; }
    int64_t nsec(uint64_t what, int64_t now) noexcept {
        if (since_ < 0 || what != what_)
            since_ = now;
        what_ = what;
        return now - since_;
    }

private:
    uint64_t what_ = 0;
    int64_t since_ = -1;
};

/// What the last nudge has found.
struct Waits {
    uint64_t what = 0;
    int64_t cpu = 0;   ///< ns
    long switches = 0; ///< how often the thread had begun to wait
    int count = 0;     ///< nudges in a row between which the code has only waited
};

struct Watch {
    int users = 0;
    bool armed = false;
    pid_t thread = 0;
    timer_t timer{};
    Limits limits{};
    int64_t began = 0; ///< ns
    Unchanged plugin, host, awake;
    Waits waits;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Watch watch;

/// Its address marks our timers' signals.
const char mark = 0;

uintptr_t library_begin = 0, library_end = 0; ///< the C library's code

int64_t nsec_of(clockid_t clock) noexcept {
    timespec time;
    clock_gettime(clock, &time);
    return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Whether the C library was interrupted. It may hold a lock of its own then, of the allocator for example.
bool in_c_library(const void* context) noexcept {
#if defined(__x86_64__)
    const auto at = uintptr_t(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    const auto at = uintptr_t(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
    const uintptr_t at = 0;
    (void)context;
#endif
    return at >= library_begin && at < library_end;
}

/// Whether code may be ended that has taken `nsec`: at its limit, but if that would be in the middle of the C library
/// only at twice its limit.
bool ends(int64_t nsec, int64_t limit, const void* context) noexcept {
    return nsec >= (in_c_library(context) ? 2 * limit : limit);
}

bool start_timer(const Limits& limits) noexcept {
    if (watch.users++ > 0)
        return watch.armed;
    watch.limits = limits;
    watch.plugin.forget();
    watch.host.forget();
    watch.awake.forget();
    watch.waits = {};
    watch.thread = gettid();
    watch.began = nsec_of(limits.clock);
    sigset_t tick;
    sigemptyset(&tick);
    sigaddset(&tick, HangWatch::signal);
    pthread_sigmask(SIG_UNBLOCK, &tick, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = HangWatch::signal;
    event.sigev_value.sival_ptr = const_cast<char*>(&mark);
    event.sigev_notify_thread_id = watch.thread;
    if (timer_create(limits.clock, &event, &watch.timer) != 0)
        return false;
    const int64_t first = limits.from_the_start ? limits.plugin : limits.tick;
    const itimerspec times{{0, long(limits.tick)}, {time_t(first / 1'000'000'000), long(first % 1'000'000'000)}};
    if (timer_settime(watch.timer, 0, &times, nullptr) != 0) {
        timer_delete(watch.timer);
        return false;
    }
    return watch.armed = true;
}

} // namespace

void HangWatch::prepare() noexcept {
    const auto find = [](dl_phdr_info* library, size_t, void*) {
        const auto function = reinterpret_cast<uintptr_t>(&::gnu_get_libc_version);
        for (int i = 0; i < library->dlpi_phnum; ++i) {
            const auto& part = library->dlpi_phdr[i];
            const uintptr_t begin = library->dlpi_addr + part.p_vaddr;
            if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || function < begin ||
                function >= begin + part.p_memsz)
                continue;
            library_begin = begin;
            library_end = begin + part.p_memsz;
            return 1;
        }
        return 0;
    };
    dl_iterate_phdr(find, nullptr);
}

bool HangWatch::begin(FaultGuard::Patience patience) noexcept {
    return start_timer(limits_of(patience));
}

bool HangWatch::begin_limit(int seconds) noexcept {
    const int64_t limit = seconds * 1000 * milliseconds;
    return start_timer({limit, limit, 20 * milliseconds, CLOCK_MONOTONIC, true});
}

void HangWatch::end() noexcept {
    if (watch.users == 0 || --watch.users > 0 || !watch.armed)
        return;
    watch.armed = false;
    timer_delete(watch.timer);
}

bool HangWatch::is_tick(const siginfo_t& info) noexcept {
    return info.si_code == SI_TIMER && info.si_value.sival_ptr == &mark;
}

void HangWatch::tick(const void* context) noexcept {
    GuardState& state = guard_state;
    const bool plugin = state.in_plugin() && !state.unhurried;
    const bool host = state.in_host() && state.target;
    if (!plugin)
        watch.plugin.forget();
    if (!host)
        watch.host.forget();
    if (!watch.armed)
        return;
    const int64_t now = nsec_of(watch.limits.clock);
    if (watch.limits.clock == CLOCK_THREAD_CPUTIME_ID)
        rest_if_due(now);
    if (host) {
        const int64_t nsec = watch.host.nsec(uint64_t(state.progress) << 32 | state.entries, now);
        if (ends(nsec, watch.limits.host, context))
            end_guarded(FaultGuard::Ending::endless);
    }
    if (plugin) {
        const uint32_t piece = state.pieces ? state.pieces->at : 0;
        const int64_t nsec = watch.limits.from_the_start
                                 ? now - watch.began
                                 : watch.plugin.nsec(uint64_t(state.entries) << 32 | piece, now);
        if (state.in_host())
            state.overdue = state.overdue || nsec >= watch.limits.plugin;
        else if (ends(nsec, watch.limits.plugin, context))
            end_guarded(FaultGuard::Ending::endless);
    }
}

int32_t HangWatch::watched_thread() noexcept {
    return watch.armed ? watch.thread : 0;
}

void HangWatch::nudge(int32_t thread) noexcept {
    siginfo_t info{};
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = const_cast<char*>(&mark);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info);
}

bool HangWatch::is_nudge(const siginfo_t& info) noexcept {
    return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &mark;
}

void HangWatch::nudged() noexcept {
    GuardState& state = guard_state;
    Waits& last = watch.waits;
    rusage usage;
    if (!watch.armed || !state.in_plugin() || state.in_host() || state.unhurried ||
        getrusage(RUSAGE_THREAD, &usage) != 0) {
        last.count = 0;
        return;
    }
    const uint64_t what = uint64_t(state.entries) << 32 | (state.pieces ? state.pieces->at : 0);
    const int64_t cpu = nsec_of(CLOCK_THREAD_CPUTIME_ID);
    // A thread that has no processor for long hasn't begun to wait meanwhile.
    const bool waited = what == last.what && usage.ru_nvcsw != last.switches && cpu - last.cpu < milliseconds;
    last = {what, cpu, usage.ru_nvcsw, waited ? last.count + 1 : 0};
    if (last.count >= most_waits)
        end_guarded(FaultGuard::Ending::endless);
}

void HangWatch::rest_if_due(int64_t now) noexcept {
    rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0 &&
        watch.awake.nsec(uint64_t(usage.ru_nvcsw), now) >= longest_without_rest)
        let_others_run();
}

void HangWatch::let_others_run() noexcept {
    const timespec moment{0, 100'000};
    SCS_UNPROVEN_BEGIN // so that the kernel sees a rest
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
    SCS_UNPROVEN_END
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
// What a signal does that isn't guarded code's own doing, and what is said and left when the process ends. Each case
// runs in a child process, as most of them end it and handlers are installed once a process.
#include "engine/guard/crash-report.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/guard/fault-signals.hpp"
#include "engine/guard/guard-state.hpp"

#include <cassert>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <pthread.h>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

using namespace scs;

namespace {

volatile int* volatile nowhere = nullptr;

/// What a handler saw that was there before ours; shared with the child.
struct Seen {
    int calls;
    int signal, code, pid;
    void* address;
};
Seen& seen() {
    static void* memory = mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *static_cast<Seen*>(memory);
}

void note(int signal, siginfo_t* info, void*) {
    const bool fault = signal == SIGSEGV && info->si_code > 0;
    seen() = {seen().calls + 1, signal, info->si_code, fault ? 0 : info->si_pid, fault ? info->si_addr : nullptr};
    if (fault)
        _exit(3); // returning would cause it again
}

enum class Before { by_default, ignored, noted };

struct Ended {
    int status;
    std::string printed;
    bool by(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
    bool with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
};

/// Runs f() in a child that has such handlers and then ours. It exits with 7 if f() returns.
template <class F>
Ended in_child(Before before, F f) {
    seen() = {};
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        dup2(ends[1], STDERR_FILENO);
        struct sigaction action {};
        if (before == Before::noted) {
            action.sa_sigaction = note;
            action.sa_flags = SA_SIGINFO;
        } else {
            action.sa_handler = before == Before::ignored ? SIG_IGN : SIG_DFL;
        }
        for (const int signal : {SIGABRT, SIGSEGV, SIGXCPU})
            sigaction(signal, &action, nullptr);
        FaultGuard::install();
        f();
        _exit(7);
    }
    close(ends[1]);
    Ended ended;
    char bytes[1000];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
        ended.printed.append(bytes, size_t(got));
    close(ends[0]);
    waitpid(child, &ended.status, 0);
    return ended;
}

/// The path of a file that may be left.
struct Marker {
    Marker() { std::filesystem::create_directory(folder); }
    ~Marker() { std::filesystem::remove_all(folder); }
    /// What is in it; it is removed.
    std::string take() const {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        std::filesystem::remove(path);
        return text.str();
    }
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("scs-crash-" + std::to_string(getpid()));
    const std::string path = folder / "marker";
};

bool run(void (*f)()) {
    return FaultGuard::run([&] { f(); });
}

/// "free(): double free detected in tcache 2": the arena isn't locked.
void free_twice() {
    void* volatile memory = std::malloc(40);
    void* const address = memory;
    std::free(memory);
    asm volatile("" : : "r"(address) : "memory");
    void* volatile again = address;
    std::free(again);
}

/// "malloc(): corrupted top size": the arena is locked.
void spoil_the_top() {
    auto* const memory = static_cast<volatile char*>(std::malloc(60000)); // larger than what was freed before
    const size_t end = malloc_usable_size(const_cast<char*>(memory)) + 8;
    for (size_t i = 0; i < end; ++i)
        memory[i] = char(0xff);
    void* volatile more = std::malloc(200000);
    (void)more;
}

} // namespace

TEST_CASE("code that has spoilt what it would be left by ends the host code around it, or else the process") {
    const auto spoil = [](sigjmp_buf& place) { std::memset(&place, 0x41, sizeof place); };
    const auto crash = [&] {
        FaultGuard::prepare_thread(); // the jump leaves a stack pointer of no use
        spoil(*guard_state.target);
        (void)*nowhere;
    };
    const Ended alone = in_child(Before::by_default, [&] { FaultGuard::run(crash); });
    CHECK(alone.by(SIGSEGV));
    CHECK(alone.printed.find("has crashed") != std::string::npos);
    const auto within_host = [&](bool whole) {
        return in_child(Before::by_default, [&] {
            const bool ended = !FaultGuard::run_host([&] {
                if (whole)
                    spoil(*guard_state.host_target);
                FaultGuard::run(crash);
            });
            _exit(ended ? 5 : 6);
        });
    };
    CHECK(within_host(false).with(5));
    CHECK(within_host(true).by(SIGSEGV));
    // It works again afterwards.
    CHECK(in_child(Before::by_default, [&] {
              bool contained = !FaultGuard::run_host([&] { FaultGuard::run(crash); });
              contained &= FaultGuard::run_host([&] { _exit(FaultGuard::run([] { (void)*nowhere; }) ? 6 : 5); });
          }).with(5));
}

TEST_CASE("a signal that somebody sends goes to the handler that was there before, also during guarded code") {
    for (const int signal : {SIGABRT, SIGSEGV, SIGXCPU}) {
        CAPTURE(signal);
        const auto send = [signal] {
            if (!FaultGuard::run([&] {
                    kill(getpid(), signal);
                    while (seen().calls == 0) {
                    }
                }))
                _exit(1);
        };
        CHECK(in_child(Before::noted, send).with(7));
        CHECK(seen().calls == 1);
        CHECK(seen().signal == signal);
        CHECK(seen().code == SI_USER);
        CHECK(seen().pid > 0);
        CHECK(in_child(Before::by_default, send).by(signal));
        const auto send_ignored = [signal] {
            if (FaultGuard::run([&] { kill(getpid(), signal); }))
                _exit(8);
        };
        CHECK(in_child(Before::ignored, send_ignored).with(8));
    }
}

TEST_CASE("a signal of another thread goes to the handler that was there before") {
    const auto send = [] {
        std::thread other([thread = pthread_self()] { pthread_kill(thread, SIGABRT); });
        if (!FaultGuard::run([&] {
                while (seen().calls == 0) {
                }
            }))
            _exit(1);
        other.join();
    };
    CHECK(in_child(Before::noted, send).with(7));
    CHECK(seen().code == SI_TKILL);
    CHECK(in_child(Before::by_default, send).by(SIGABRT));
}

TEST_CASE("what unguarded code does goes to the handler that was there before") {
    const auto crash = [] { (void)*nowhere; };
    CHECK(in_child(Before::noted, crash).with(3));
    CHECK(seen().code == SEGV_MAPERR);
    CHECK(seen().address == nullptr);
    CHECK(in_child(Before::by_default, crash).by(SIGSEGV));
    CHECK(in_child(Before::ignored, crash).by(SIGSEGV));

    const auto give_up = [] { std::abort(); };
    CHECK(in_child(Before::noted, give_up).by(SIGABRT));
    CHECK(seen().calls == 1);
    CHECK(seen().code == SI_TKILL);
    CHECK(in_child(Before::by_default, give_up).by(SIGABRT));
}

TEST_CASE("guarded code that aborts is ended, as often as it does") {
    const Ended ended = in_child(Before::noted, [] {
        const auto fail = [] { __assert_fail("it", "file", 1, "function"); };
        for (int i = 0; i < 3; ++i)
            if (run([] { std::abort(); }) || run(fail) || !run([] {}))
                _exit(1);
    });
    CHECK(ended.with(7));
    CHECK(seen().calls == 0);
}

TEST_CASE("a timer of somebody else's goes to the handler that was there before") {
    const auto wait = [] {
        const FaultGuard::Watched watched(FaultGuard::Patience::little);
        int theirs = 0;
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGXCPU;
        event.sigev_value.sival_ptr = &theirs;
        timer_t timer;
        const itimerspec soon{{}, {0, 1000}};
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, nullptr) != 0)
            _exit(1);
        while (seen().calls == 0)
            usleep(1000);
    };
    CHECK(in_child(Before::noted, wait).with(7));
    CHECK(seen().code == SI_TIMER);
    CHECK(in_child(Before::by_default, wait).by(SIGXCPU));
}

TEST_CASE("guarded code that calls exit() ends the process as a crash does, with its name; other code just exits") {
    const Marker marker;
    GuardedPieces pieces;
    pieces.name = [](const GuardedPieces&) noexcept { return "TheCulprit"; };
    for (const auto leave : {std::exit, std::quick_exit}) {
        const Ended ended = in_child(Before::by_default, [&] {
            const CrashMarker mark(marker.path);
            (void)FaultGuard::run([&] { leave(0); }, &pieces);
        });
        CHECK(ended.by(SIGABRT));
        const std::string line = "scsynth: UGen 'TheCulprit' has called exit(); the process ends\n";
        CHECK(ended.printed.starts_with(line)); // an emulator has a line of its own
        CHECK(marker.take() == line);

        const Ended nameless = in_child(Before::by_default, [&] { (void)FaultGuard::run([&] { leave(0); }); });
        CHECK(nameless.by(SIGABRT));
        CHECK(nameless.printed.starts_with("scsynth: a UGen plugin has called exit(); the process ends\n"));

        CHECK(in_child(Before::by_default, [&] { leave(5); }).with(5));
        CHECK(in_child(Before::by_default, [&] { (void)FaultGuard::run_host([&] { leave(5); }); }).with(5));
    }
}

TEST_CASE("what plugins register to be run at the end isn't run when one of them calls exit()") {
    const Ended ended = in_child(Before::by_default, [] {
        std::atexit([] { _exit(9); });
        watch_exit();
        (void)run([] { std::exit(0); });
    });
    CHECK(ended.by(SIGABRT));
}

TEST_CASE("a crash under no guard is told, with its thread, unless somebody else has a handler for it") {
    const Marker marker;
    const auto crash = [&](const char* name) {
        const CrashMarker mark(marker.path);
        std::thread([&] {
            pthread_setname_np(pthread_self(), name);
            *nowhere = 1;
        }).join();
    };
    const Ended ended = in_child(Before::by_default, [&] { crash("a-stranger"); });
    CHECK(ended.by(SIGSEGV));
    const std::string line =
        "scsynth: thread 'a-stranger' has crashed (SIGSEGV), where no UGen can be ended for it; the process ends\n";
    CHECK(ended.printed.starts_with(line));
    CHECK(marker.take() == line);

    CHECK(in_child(Before::noted, [&] { crash("a-stranger"); }).printed.empty());
    CHECK(marker.take().empty());
    const Ended killed = in_child(Before::by_default, [] { kill(getpid(), SIGSEGV); });
    CHECK(killed.printed.find("has crashed") == std::string::npos);
    const Ended aborted = in_child(Before::by_default, [] { std::abort(); });
    CHECK(aborted.printed.find("has crashed (SIGABRT)") != std::string::npos);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they bring an allocator of their own

TEST_CASE("a corrupted heap ends the process, which says so and leaves a marker") {
    const Marker marker;
    const std::string &path = marker.path, gone = marker.folder / "gone";
    for (const auto corrupt : {free_twice, spoil_the_top})
        for (const Before before : {Before::by_default, Before::noted})
            for (const bool guarded : {true, false}) {
                std::filesystem::remove(path);
                const Ended ended = in_child(before, [&] {
                    const CrashMarker mark(path);
                    { const CrashMarker other(gone); }
                    GuardedPieces pieces;
                    pieces.name = [](const GuardedPieces&) noexcept { return "TheCulprit"; };
                    if (guarded)
                        (void)FaultGuard::run([&] { corrupt(); }, &pieces);
                    else
                        corrupt();
                });
                CAPTURE(ended.printed);
                CHECK(ended.by(SIGABRT));
                CHECK(seen().calls == (before == Before::noted));
                CHECK(ended.printed.find("scsynth: the heap is corrupted, most likely by a UGen") != std::string::npos);
                CHECK((ended.printed.find("; 'TheCulprit' was running; the process ends (") != std::string::npos) ==
                      guarded);
                CHECK(std::filesystem::exists(path));
                CHECK_FALSE(std::filesystem::exists(gone));
            }
    std::ofstream(path) << "kept";
    CHECK(in_child(Before::by_default, [&] {
              const CrashMarker mark(path);
              (void)run(free_twice);
          }).by(SIGABRT));
    std::string text;
    std::ifstream(path) >> text;
    CHECK(text == "kept");
}

TEST_CASE("a name that has become unreadable isn't told") {
    const Ended ended = in_child(Before::by_default, [] {
        GuardedPieces pieces;
        pieces.name = [](const GuardedPieces&) noexcept { return reinterpret_cast<const char*>(16); };
        (void)FaultGuard::run([] { free_twice(); }, &pieces);
    });
    CHECK(ended.by(SIGABRT));
    CHECK(ended.printed.find("most likely by a UGen; the process ends (") != std::string::npos);
}

#endif

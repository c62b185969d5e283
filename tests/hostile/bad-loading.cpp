// SPDX-License-Identifier: GPL-3.0-or-later
// UGen plugins for the tests that go wrong while they are loaded: WHERE says in which of their functions, WHAT how.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

enum Place { in_constructor, in_version, in_load };

static volatile int* volatile nowhere = nullptr;
static volatile int more = 1;
static char* volatile kept;

static void go_wrong(Place here) {
    if (here != WHERE)
        return;
    enum { crash, abort, raise, end, hang, deaf, noisy, thread, greedy, wait };
    switch (WHAT) {
    case crash: *nowhere = 1; break;
    case abort: std::abort();
    case raise: throw 1;
    case end: std::exit(3);
    case hang:
        while (more)
            pause();
        break;
    case deaf: // whoever waits for the end of what it says waits for ever
        close_range(3, ~0u, 0);
        while (more)
            pause();
        break;
    case noisy:
        while (more) { // who waits for news gets some
            constexpr char line[] = "what is going on\n";
            for (int file = 3; file < 16; ++file)
                (void)!write(file, line, sizeof line - 1);
            usleep(100'000);
        }
        break;
    case thread: { // it crashes when all has long returned
        pthread_t other;
        pthread_create(
            &other, nullptr,
            [](void*) -> void* {
                usleep(50'000);
                *nowhere = 1;
                return nullptr;
            },
            nullptr);
        break;
    }
    case greedy: kept = new char[size_t(5) << 30]; break;
    case wait: // but not where it is tried
        while (!std::strstr(program_invocation_name, "probe"))
            pause();
    }
}

[[gnu::constructor]] static void construct() {
    go_wrong(in_constructor);
}

EXPORT int api_version() {
    go_wrong(in_version);
    return 3;
}

EXPORT void load(void*) {
    go_wrong(in_load);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// UGen plugins for the tests that go wrong while they are loaded: WHERE says in which of their functions, WHAT how.
#include <cstdlib>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

enum Place { in_constructor, in_version, in_load };

static volatile int* volatile nowhere = nullptr;
static volatile int more = 1;

static void go_wrong(Place here) {
    if (here != WHERE)
        return;
    enum { crash, abort, raise, end, hang };
    switch (WHAT) {
    case crash: *nowhere = 1; break;
    case abort: std::abort();
    case raise: throw 1;
    case end: std::exit(3);
    case hang:
        while (more)
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

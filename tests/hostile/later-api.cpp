// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests, as SuperCollider 3.15's development versions make them: of another version of the API.
// That the host calls load() would end the process.
#include <cstdlib>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int api_version() {
    return 7;
}

EXPORT void load(void*) {
    std::abort();
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests, as a SuperCollider that is still to come may make them: of another version of the API.
// That the host calls load() would end the process.
#include <cstdlib>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int api_version() {
    return 8;
}

EXPORT void load(void*) {
    std::abort();
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "async-latency.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace scs::spa {
namespace {

using Version = std::array<int, 3>;

/// That of the PipeWire in whose process this is; zeros if it is another host.
Version host_version() {
    Version version{};
    // A plugin isn't linked to the library, which a daemon or client has loaded by then.
    if (void* symbol = dlsym(RTLD_DEFAULT, "pw_get_library_version"))
        std::sscanf(reinterpret_cast<const char* (*)()>(symbol)(), "%d.%d.%d", &version[0], &version[1], &version[2]);
    return version;
}

} // namespace

int uncounted_cycles(const spa_dict* info) {
    const char* given = info ? spa_dict_lookup(info, "node.async") : nullptr;
    const std::string_view async = given ? given : "";
    if (async != "true" && async != "1")
        return 0;
    const Version version = host_version();
    return version >= Version{1, 2, 0} && version < Version{1, 5, 81};
}

} // namespace scs::spa

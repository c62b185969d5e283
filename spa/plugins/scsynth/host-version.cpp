// SPDX-License-Identifier: GPL-3.0-or-later
#include "host-version.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace scs::spa {

Version host_version() {
    Version version{};
    // A plugin isn't linked to the library, which a daemon or client has loaded by then.
    if (void* symbol = dlsym(RTLD_DEFAULT, "pw_get_library_version"))
        std::sscanf(reinterpret_cast<const char* (*)()>(symbol)(), "%d.%d.%d", &version[0], &version[1], &version[2]);
    return version;
}

} // namespace scs::spa

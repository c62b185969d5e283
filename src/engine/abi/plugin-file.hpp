// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

#include <dlfcn.h>

namespace scs {

/// How plugin files are loaded. They stay, as some of them start threads.
inline constexpr int plugin_flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

/// The functions of a plugin file. They are the plugin's code, which may do anything.
struct PluginFunctions {
    int (*api_version)() = nullptr;
    int (*server_type)() = nullptr; ///< null in old files
    void (*load)(::InterfaceTable*) = nullptr;

    bool is_complete() const { return api_version && load; }
    bool is_for_this_server() const { return !server_type || server_type() == sc_server_scsynth; }
};

/// [worker] Those of a file that dlopen() has loaded.
inline PluginFunctions functions_of(void* handle) {
    return {reinterpret_cast<int (*)()>(dlsym(handle, "api_version")),
            reinterpret_cast<int (*)()>(dlsym(handle, "server_type")),
            reinterpret_cast<void (*)(::InterfaceTable*)>(dlsym(handle, "load"))};
}

} // namespace scs

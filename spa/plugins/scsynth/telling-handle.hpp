// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/support/plugin.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace scs::spa {

/// Handles by which the process that holds the plugin tells it something: their one interface is a table of functions.
/// A client of PipeWire can have the daemon make such a handle, but that does nothing, and it can't call the functions.
/// `forget` is called when the handle ends. All [main].
template <const char* interface_name, auto& functions, void (*forget)(spa_handle*)>
struct TellingHandle {
    static constexpr spa_handle_factory factory(const char* name) {
        return {SPA_VERSION_HANDLE_FACTORY, name, nullptr, size, init, enum_interface_info};
    }

private:
    static size_t size(const spa_handle_factory*, const spa_dict*) { return sizeof(spa_handle); }
    static int init(const spa_handle_factory*, spa_handle* handle, const spa_dict*, const spa_support*, uint32_t) {
        *handle = {SPA_VERSION_HANDLE, get_interface, clear};
        return 0;
    }
    static int clear(spa_handle* handle) {
        forget(handle);
        return 0;
    }
    static int get_interface(spa_handle*, const char* type, void** interface) {
        if (!type || !interface || std::strcmp(type, interface_name) != 0)
            return -ENOENT;
        *interface = &functions;
        return 0;
    }
    static int enum_interface_info(const spa_handle_factory*, const spa_interface_info** info, uint32_t* index) {
        static const spa_interface_info interfaces[] = {{interface_name}};
        if (!info || !index)
            return -EINVAL;
        if (*index > 0)
            return 0;
        *info = &interfaces[(*index)++];
        return 1;
    }
};

} // namespace scs::spa

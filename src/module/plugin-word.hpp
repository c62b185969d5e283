// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/pipewire.h>

#include <cerrno>

namespace scs::module {

/// A handle by which this process tells the plugin that `settings` name something, see TellingHandle, and its table of
/// functions. Null, with errno: there is none, or the plugin is of another version. It isn't loaded by the context,
/// which would count it among what runs on one of its data loops. [main]
template <class Functions>
spa_handle* word_to_plugin(const spa_dict& settings, const char* factory, const char* interface,
                           Functions*& functions) {
    const char* library = spa_dict_lookup(&settings, SPA_KEY_LIBRARY_NAME);
    spa_handle* handle = pw_load_spa_handle(library, factory, nullptr, 0, nullptr);
    if (!handle)
        return nullptr;
    void* found = nullptr;
    if (const int res = spa_handle_get_interface(handle, interface, &found); res < 0) {
        pw_unload_spa_handle(handle);
        errno = -res;
        return nullptr;
    }
    functions = static_cast<Functions*>(found);
    return handle;
}

} // namespace scs::module

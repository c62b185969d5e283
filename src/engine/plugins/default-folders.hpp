// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <string>

namespace scs {

/// Where SuperCollider keeps UGen plugins, with colons between. [any but rt]
inline std::string supercollider_folders() {
    std::string path = "/usr/local/lib/SuperCollider/plugins:/usr/lib/SuperCollider/plugins:"
                       "/usr/lib64/SuperCollider/plugins:"
                       "/usr/local/share/SuperCollider/Extensions:/usr/share/SuperCollider/Extensions";
    const char* data = std::getenv("XDG_DATA_HOME");
    const char* home = std::getenv("HOME");
    if (data && *data)
        path += std::string(":") + data + "/SuperCollider/Extensions";
    else if (home && *home)
        path += std::string(":") + home + "/.local/share/SuperCollider/Extensions";
    return path;
}

/// Where this process looks for UGen plugins if it isn't told: SC_PLUGIN_PATH, or SuperCollider's folders. [any but rt]
inline std::string default_ugen_path() {
    const char* path = std::getenv("SC_PLUGIN_PATH");
    return path ? path : supercollider_folders();
}

} // namespace scs

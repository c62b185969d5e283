// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The folders that this process's SC_PLUGIN_PATH adds to these, with colons between. [any but rt]
inline std::string added_folders() {
    const char* path = std::getenv("SC_PLUGIN_PATH");
    return path ? path : "";
}

/// A folder of UGen plugins, and what named it: "scsynth.ugen-path", "SC_PLUGIN_PATH", or nothing for SuperCollider's
/// own.
struct PluginFolder {
    std::string path;
    std::string_view named_by;
};

/// The folders of a `scsynth.ugen-path`, in order. An empty one, or an empty path, stands for SuperCollider's own and
/// those that SC_PLUGIN_PATH adds. [any but rt]
inline std::vector<PluginFolder> plugin_folders(std::string_view path) {
    std::vector<PluginFolder> folders;
    const auto add = [&](std::string_view list, std::string_view named_by, const auto& on_empty) {
        for (size_t begin = 0; begin <= list.size();) {
            const size_t end = std::min(list.find(':', begin), list.size());
            if (end > begin)
                folders.push_back({std::string(list.substr(begin, end - begin)), named_by});
            else
                on_empty();
            begin = end + 1;
        }
    };
    const auto nothing = [] {};
    bool all_known = false;
    add(path, "scsynth.ugen-path", [&] {
        if (std::exchange(all_known, true))
            return;
        add(supercollider_folders(), "", nothing);
        add(added_folders(), "SC_PLUGIN_PATH", nothing);
    });
    return folders;
}

/// Whether SuperCollider's own are among these. [any but rt]
inline bool searches_own_folders(std::string_view path) {
    const std::vector<PluginFolder> folders = plugin_folders(path);
    return std::any_of(folders.begin(), folders.end(), [](const PluginFolder& each) { return each.named_by.empty(); });
}

} // namespace scs

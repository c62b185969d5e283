// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/packs/plugin-folders.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace scs {

/// Which content a path leads to, as far as that can be told without reading it: another file, or one that was written
/// anew, has another identity. Times are in ns.
struct FileIdentity {
    uint64_t device = 0, inode = 0, bytes = 0;
    int64_t modified = 0, changed = 0;
    bool operator==(const FileIdentity&) const = default;
};
/// [any]
FileIdentity identity_of(const struct stat&);

/// A plugin file, without links in its path.
struct PluginFile {
    std::string path;
    FileIdentity identity;
};

/// What the folders hold.
struct FoundFiles {
    std::vector<PluginFile> plugins;         ///< in the order in which they are to be loaded, none twice
    std::vector<std::string> supernova_only; ///< builds for supernova that have none for scsynth beside them
    std::vector<std::string> refused;        ///< those of which refusal_of() knows
    std::vector<std::string> problems;       ///< of folders, in words
};

/// [any but rt] The plugin files in these folders and in all folders below them; links to folders are followed.
/// SuperCollider's rules say which folders are left out, such as "ignore" and ".git".
FoundFiles find_plugin_files(const std::vector<PluginFolder>&);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <spa/support/plugin.h>

#include <string>

namespace scs::spa {

/// By this interface of a TellingHandle the process that holds the plugin says from where its nodes may load UGens.
struct UgenFolders {
    /// [main] Nodes may load UGens from these folders, with colons between, and from those in them, as long as the
    /// handle lives.
    void (*allow)(spa_handle*, const char* folders);
    /// [main] While it is on, and the handle lives, the nodes that are made may load UGens from anywhere.
    void (*trust)(spa_handle*, bool on);
};
inline constexpr char ugen_folders_factory[] = "scsynth.ugen-folders";
inline constexpr char ugen_folders_interface[] = "Scsynth:Interface:UgenFolders";

/// What to tell somebody whose node may not load UGens from `folders`. [any but rt]
inline std::string how_to_allow(std::string folders) {
    folders.erase(0, folders.find_first_not_of(':'));
    return "UGens come only from SuperCollider's folders and those that PipeWire's configuration lists. To allow " +
           folders +
           ", put   context.modules = [ { name = libpipewire-module-scsynth args = { scsynth.node = false "
           "scsynth.ugen-paths.allowed = \"" +
           folders + "\" } } ]   into ~/.config/pipewire/pipewire.conf.d/91-scsynth-ugens.conf, and restart PipeWire";
}

extern const spa_handle_factory ugen_folders;

/// [main] The path, without links, if a node may load UGens from all its folders. An empty folder, which stands for
/// those that are always allowed, stays. The error says which one it may not, and what to do.
Result<std::string> allowed_ugen_path(const std::string& path);

} // namespace scs::spa

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-units.hpp"

#include <memory>
#include <string>

namespace scs {

/// What came of loading a plugin file into this process.
struct LoadedPlugin {
    std::unique_ptr<PluginUnits> units; ///< null: it isn't loaded
    std::string problem;                ///< why
    bool harmful = false;               ///< because its load() crashed or didn't end
    int other_api = 0;                  ///< because of the version of its plugin API, which is this
};

/// [worker] Loads the file, and has it define what it has.
LoadedPlugin load_plugin(const std::string& path);

/// [any] Where the file that this thread is loading defines what it has; null: it is loading none.
PluginUnits* units_being_loaded() noexcept;

} // namespace scs

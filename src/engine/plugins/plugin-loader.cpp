// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-loader.hpp"

#include "engine/abi/plugin-api.hpp"
#include "engine/abi/plugin-file.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/guard/fault-signals.hpp"
#include "engine/plugins/interface-table.hpp"

#include <dlfcn.h>
#include <optional>
#include <utility>

namespace scs {
namespace {

constexpr int longest_load = 10; ///< s, waiting included

thread_local PluginUnits* being_loaded = nullptr;

/// What load_plugin() runs under guard: the plugin's own code.
void run_load(const PluginFunctions& plugin, LoadedPlugin& loaded) {
    const int version = plugin.api_version();
    const std::optional<PluginApi> api = hosted_api(version);
    if (!api) {
        loaded.other_api = version;
        loaded.problem = "plugin API version " + std::to_string(version) + ", not " + hosted_versions +
                         ", those of SuperCollider 3.9 to 3.15";
    } else if (!plugin.is_for_this_server()) {
        loaded.problem = "not built for scsynth";
    } else {
        plugin.load(interface_table(*api));
    }
}

std::string ending() {
    switch (FaultGuard::last_ending()) {
    case FaultGuard::Ending::abort: return "called abort()";
    case FaultGuard::Ending::endless: return "did not end";
    default: return "crashed or threw an exception";
    }
}

} // namespace

PluginUnits* units_being_loaded() noexcept {
    return being_loaded;
}

LoadedPlugin load_plugin(const std::string& path) {
    LoadedPlugin loaded;
    void* const handle = dlopen(path.c_str(), plugin_flags);
    if (!handle) {
        loaded.problem = dlerror();
        return loaded;
    }
    const PluginFunctions plugin = functions_of(handle);
    if (!plugin.is_complete()) {
        loaded.problem = "not a SuperCollider plugin";
        return loaded;
    }
    FaultGuard::install();
    const FaultGuard::TimeLimit limit(longest_load);
    auto units = std::make_unique<PluginUnits>();
    being_loaded = units.get();
    loaded.harmful = !FaultGuard::run([&] { run_load(plugin, loaded); });
    being_loaded = nullptr;
    watch_exit();
    if (loaded.harmful)
        loaded.problem = ending();
    if (loaded.problem.empty())
        loaded.units = std::move(units);
    else if (loaded.harmful)
        static_cast<void>(units.release()); // it may be half changed
    return loaded;
}

} // namespace scs

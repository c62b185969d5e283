// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/base/release.hpp"
#include "engine/base/result.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// A UGen of a plugin file. UgenInfo::entry points to it.
struct UgenEntry {
    UgenInfo info;
    UnitCtorFunc construct = nullptr;
    UnitDtorFunc destroy = nullptr; ///< may be null
    std::map<std::string, UnitCmdFunc, std::less<>> commands;
};

/// A plugin's own server command (/cmd).
struct PluginCommand {
    PlugInCmdFunc run;
    void* user_data;
};

/// The UGens, buffer generators and commands of all plugin files that this process has loaded. There is one a process,
/// because the plugin ABI's define functions carry no context. Entries are never removed. Files are never unloaded, as
/// some of them start threads.
class PluginRegistry final : public UgenCatalog {
public:
    static PluginRegistry& instance();

    /// [worker] Loads the plugin files built for scsynth below the folders of `path` (colon-separated; empty: the
    /// environment's SC_PLUGIN_PATH or SuperCollider's own folders) that aren't loaded yet. `report` gets a line for
    /// each file that could not be loaded. Error: afterwards units that every SynthDef needs are still missing; it says
    /// so if plugins were there but of another version of the plugin API.
    Result<int> load(const std::string& path, const std::function<void(const std::string&)>& report);

    /// [any] Finds an entry that was defined before the caller's Engine was made.
    const UgenInfo* find(std::string_view name) const override;
    BufGenFunc find_buf_gen(std::string_view name) const;
    const PluginCommand* find_command(std::string_view name) const;
    size_t ugen_count() const;
    /// [any] Which release's units these are.
    Release release() const noexcept { return release_; }
    std::vector<std::string> ugen_names() const;

    // For the interface table.
    bool define_unit(const char* name, size_t bytes, UnitCtorFunc, UnitDtorFunc, uint32_t flags);
    bool define_command(const char* name, PlugInCmdFunc, void* user_data);
    bool define_unit_command(const char* unit, const char* name, UnitCmdFunc);
    bool define_buf_gen(const char* name, BufGenFunc);

private:
    PluginRegistry() = default;

    mutable std::mutex mutex_;
    std::mutex loading_;
    std::map<std::string, std::unique_ptr<UgenEntry>, std::less<>> ugens_;
    std::map<std::string, BufGenFunc, std::less<>> buf_gens_;
    std::map<std::string, PluginCommand, std::less<>> commands_;
    std::vector<std::string> loaded_files_;
    std::atomic<Release> release_{Release::v3_13};
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/base/release.hpp"
#include "engine/base/result.hpp"
#include "engine/packs/unit-packs.hpp"
#include "engine/packs/vetting.hpp"
#include "engine/plugins/generations.hpp"
#include "engine/plugins/plugin-units.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scs {

/// The UGens, buffer generators and commands of all plugin files that this process has loaded. There is one a process,
/// because the plugin ABI's define functions carry no context. Entries are never removed, and files never unloaded, as
/// some of them start threads. But a file that changes ends its old entries: a load() that finds it so makes a new
/// generation, and engines of older ones keep what they had.
class PluginRegistry final : public UgenCatalog {
public:
    using Report = std::function<void(const std::string&)>;

    static PluginRegistry& instance();

    /// [worker] Loads the plugin files below the folders of `path` (see plugin_folders()) that aren't loaded yet, or
    /// have changed. `report` gets a line for each file that could not be loaded. Returns the generation that an engine
    /// made now sees. Error: afterwards units that every SynthDef needs are still missing; it says so if plugins were
    /// there but of another version of the plugin API.
    Result<int> load(const std::string& path, const Report& report);

    /// [any] Finds an entry of that generation.
    const UgenInfo* find(std::string_view name, int generation) const;
    BufGen find_buf_gen(std::string_view name, int generation = newest_plugins) const;
    /// [any] The newest of that name, even if only older generations have it, or null.
    const PluginCommand* latest_command(std::string_view name) const;
    /// [any] Of the newest.
    const UgenInfo* find(std::string_view name) const override { return find(name, newest_plugins); }
    /// [worker] See MissingUnits.
    std::string advice_on_missing(std::string_view unit, bool own_searched) {
        return missing_.advice(unit, own_searched);
    }
    size_t ugen_count() const;
    std::vector<std::string> ugen_names() const;
    /// [any] Which release's units these are.
    Release release(int generation) const;

    // For the interface table. What is defined while no file is loaded is there in all generations.
    // `api`: of the table by which it is defined.
    bool define_unit(const char* name, size_t bytes, UnitCtorFunc, UnitDtorFunc, uint32_t flags,
                     PluginApi api = PluginApi::v3);
    bool define_command(const char* name, PlugInCmdFunc, void* user_data, PluginApi api = PluginApi::v3);
    bool define_unit_command(const char* unit, const char* name, const UnitCommand&);
    bool define_buf_gen(const char* name, BufGenFunc, PluginApi api = PluginApi::v3);

private:
    PluginRegistry() = default;

    /// A file as it was when it was loaded last.
    struct Loaded {
        std::string content;
        FileIdentity identity;
    };

    void load_file(const PluginFile&, const VettedFile&, const Report&);
    bool load_content(const PluginFile&, const VettedFile&, const Report&);
    void leave_out(const std::string& path, const std::string& why, const Report&);
    void note_others(const FoundFiles&);
    void begin(PluginUnits&, int generation);
    void end(PluginUnits&, int generation);
    void follow_release();
    std::string lacking(const std::string& where) const;

    mutable std::mutex mutex_; ///< for what is found by name
    std::mutex loading_;       ///< held by load(), for what only it uses
    Generations<UgenEntry*> ugens_;
    Generations<BufGen> buf_gens_;
    Generations<const PluginCommand*> commands_;
    std::map<std::string, const PluginCommand*, std::less<>> latest_commands_;
    std::vector<std::pair<int, Release>> releases_; ///< by generation
    std::map<std::string, std::string> left_out_;   ///< paths, and why; of servers with other folders, too
    PluginUnits own_;
    MissingUnits missing_;

    Vetting vetting_;
    std::map<std::string, std::unique_ptr<PluginUnits>> contents_;
    std::map<std::string, Loaded> loaded_;      ///< by path
    std::map<std::string, int> tries_in_place_; ///< how often each path was loaded from where it lies
    std::map<std::string, std::string> told_;   ///< contents of which it was said that they can't be taken
    int generation_ = 0, next_ = 1;
    int other_api_ = 0;
};

} // namespace scs

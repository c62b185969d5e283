// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/registry.hpp"

#include "engine/base/settings.hpp"
#include "engine/plugins/default-folders.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/release-probe.hpp"
#include "engine/plugins/stand-ins.hpp"
#include "engine/plugins/stream-units.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace scs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".so", of_supernova = "_supernova.so";
constexpr int api_version = 3;

bool is_refused(std::string_view file) {
    const auto files = refused_files();
    return std::any_of(files.begin(), files.end(), [&](const RefusedFile& refused) { return refused.name == file; });
}

std::vector<std::string> folders_of(const std::string& path) {
    std::vector<std::string> folders;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find(':', begin), path.size());
        if (end > begin)
            folders.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return folders;
}

std::vector<fs::path> plugin_files(const std::string& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
        const std::string name = walk->path().filename().string();
        std::error_code ignored;
        if (name.ends_with(suffix) && !name.ends_with(of_supernova) && !is_refused(name) &&
            walk->is_regular_file(ignored))
            files.push_back(walk->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Why the file could not be loaded; empty if it was. `other_api` becomes the version of its plugin API if that is why.
std::string load_file(const fs::path& file, int& other_api) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return dlerror();
    const auto version = reinterpret_cast<int (*)()>(dlsym(handle, "api_version"));
    const auto server = reinterpret_cast<int (*)()>(dlsym(handle, "server_type"));
    const auto load = reinterpret_cast<void (*)(::InterfaceTable*)>(dlsym(handle, "load"));
    if (!version || !load)
        return file.string() + ": not a SuperCollider plugin";
    if (const int its = version(); its != api_version) {
        other_api = its;
        return file.string() + ": plugin API version " + std::to_string(its) + ", not " + std::to_string(api_version) +
               " (SuperCollider 3.15's development versions have others)";
    }
    if (server && server() != sc_server_scsynth)
        return file.string() + ": not built for scsynth";
    load(interface_table());
    return {};
}

} // namespace

PluginRegistry& PluginRegistry::instance() {
    static PluginRegistry registry;
    return registry;
}

Result<int> PluginRegistry::load(const std::string& path, const std::function<void(const std::string&)>& report) {
    const std::lock_guard serial(loading_);
    define_stand_ins(*this);
    define_stream_units(*this);
    const std::string where = path.empty() ? default_ugen_path() : path;
    int loaded = 0, other_api = 0;
    for (const std::string& folder : folders_of(where))
        for (const fs::path& file : plugin_files(folder)) {
            std::error_code ignored;
            const std::string real = fs::weakly_canonical(file, ignored).string();
            if (std::find(loaded_files_.begin(), loaded_files_.end(), real) != loaded_files_.end())
                continue;
            if (const std::string problem = load_file(file, other_api); !problem.empty()) {
                report("UGen plugin not loaded: " + problem);
                continue;
            }
            loaded_files_.push_back(real);
            ++loaded;
        }
    if (const UgenInfo* saw = find("LFSaw"))
        release_ = probe_release(static_cast<const UgenEntry*>(saw->entry)->construct, saw->unit_bytes);
    if (other_api && (!find("Control") || !find("Out")))
        return Error{"the UGen plugins in " + where + " have plugin API version " + std::to_string(other_api) +
                     ", not " + std::to_string(api_version) +
                     ": install SuperCollider 3.13 or 3.14, or set scsynth.ugen-path"};
    if (!find("Control") || !find("Out"))
        return Error{"no IOUGens.so in " + where +
                     ": install SuperCollider's plugins (package supercollider-server) or set scsynth.ugen-path"};
    return loaded;
}

const UgenInfo* PluginRegistry::find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto it = ugens_.find(name);
    return it == ugens_.end() ? nullptr : &it->second->info;
}

BufGenFunc PluginRegistry::find_buf_gen(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto it = buf_gens_.find(name);
    return it == buf_gens_.end() ? nullptr : it->second;
}

const PluginCommand* PluginRegistry::find_command(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto it = commands_.find(name);
    return it == commands_.end() ? nullptr : &it->second;
}

size_t PluginRegistry::ugen_count() const {
    const std::lock_guard lock(mutex_);
    return ugens_.size();
}

std::vector<std::string> PluginRegistry::ugen_names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, entry] : ugens_)
        names.push_back(name);
    return names;
}

bool PluginRegistry::define_unit(const char* name, size_t bytes, UnitCtorFunc construct, UnitDtorFunc destroy,
                                 uint32_t flags) {
    if (const UnitFacts* facts = find_unit_facts(name); facts && facts->refused)
        return false;
    auto entry = std::make_unique<UgenEntry>();
    entry->info = {name, bytes + unregistered_bytes(name), (flags & kUnitDef_CantAliasInputsToOutputs) != 0,
                   entry.get()};
    entry->construct = construct;
    entry->destroy = destroy;
    const std::lock_guard lock(mutex_);
    return ugens_.emplace(name, std::move(entry)).second;
}

bool PluginRegistry::define_command(const char* name, PlugInCmdFunc run, void* user_data) {
    const std::lock_guard lock(mutex_);
    return commands_.emplace(name, PluginCommand{run, user_data}).second;
}

bool PluginRegistry::define_unit_command(const char* unit, const char* name, UnitCmdFunc run) {
    const std::lock_guard lock(mutex_);
    const auto it = ugens_.find(std::string_view(unit));
    return it != ugens_.end() && it->second->commands.emplace(name, run).second;
}

bool PluginRegistry::define_buf_gen(const char* name, BufGenFunc run) {
    const std::lock_guard lock(mutex_);
    return buf_gens_.emplace(name, run).second;
}

const UgenCatalog& installed_ugens() {
    return PluginRegistry::instance();
}

Release release_to_follow(const Settings& settings) {
    return release_named(settings.supercollider).value_or(PluginRegistry::instance().release());
}

Result<int> load_ugens(const std::string& path, const std::function<void(const std::string&)>& report) {
    return PluginRegistry::instance().load(path, report);
}

} // namespace scs

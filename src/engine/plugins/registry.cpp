// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/registry.hpp"

#include "engine/abi/plugin-api.hpp"
#include "engine/packs/unit-packs.hpp"
#include "engine/plugins/buffer-writers.hpp"
#include "engine/plugins/link-units.hpp"
#include "engine/plugins/plugin-loader.hpp"
#include "engine/plugins/pointer-units.hpp"
#include "engine/plugins/release-probe.hpp"
#include "engine/plugins/stream-units.hpp"
#include "engine/plugins/trigger-units.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/units/unit-facts.hpp"
#include "engine/world/kept-samples.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr int all_generations = 0; ///< what is defined from this one on

/// The loader takes a path that it knows for the file that it knows, so a file that took another one's place needs
/// another spelling.
std::string spelled_anew(const std::string& path, int earlier_spellings) {
    const size_t name = path.rfind('/') + 1;
    std::string spelled = path.substr(0, name);
    for (int i = 0; i < earlier_spellings; ++i)
        spelled += "./";
    return spelled + path.substr(name);
}

} // namespace

PluginRegistry& PluginRegistry::instance() {
    static PluginRegistry registry;
    return registry;
}

Result<int> PluginRegistry::load(const std::string& path, const Report& report) {
    const std::lock_guard serial(loading_);
    define_pointer_units(*this);
    define_link_units(*this);
    define_stream_units(*this);
    define_buffer_writers(*this);
    define_trigger_units(*this);
    const FoundFiles found = find_plugin_files(plugin_folders(path));
    for (const std::string& problem : found.problems)
        report("UGen plugins: " + problem);
    next_ = generation_ + 1;
    other_api_ = 0;
    const std::vector<VettedFile> vetted = vetting_.vet(found.plugins, report);
    for (size_t i = 0; i < vetted.size(); ++i)
        load_file(found.plugins[i], vetted[i], report);
    note_others(found);
    follow_release();
    if (!find("Control") || !find("Out"))
        return Error{lacking(path.empty() ? supercollider_folders() : path)};
    return generation_;
}

void PluginRegistry::load_file(const PluginFile& file, const VettedFile& vetted, const Report& report) {
    const auto before = loaded_.find(file.path);
    if (!vetted.problem.empty()) {
        const bool still = before != loaded_.end();
        leave_out(file.path, vetted.problem + (still ? "; its earlier version stays until PipeWire restarts" : ""),
                  report);
        return;
    }
    if (before != loaded_.end() && before->second.content == vetted.content)
        return;
    const bool stuck = before != loaded_.end() && vetted.in_place &&
                       !(vetted.is_packaged && vetted.identity.inode != before->second.identity.inode);
    if (stuck) {
        if (std::exchange(told_[file.path], vetted.content) != vetted.content)
            report(
                "UGen plugin " + file.path +
                " has changed. It looks for files beside itself, so it is loaded from where it lies: restart PipeWire "
                "to have the new one");
        return;
    }
    PluginUnits* const old = before == loaded_.end() ? nullptr : contents_[before->second.content].get();
    if (!contents_.count(vetted.content) && !load_content(file, vetted, report))
        return;
    if (old)
        end(*old, next_);
    begin(*contents_[vetted.content], next_);
    if (old)
        report("UGen plugin " + file.path + " has changed: servers that start from now on have the new one");
    loaded_[file.path] = {vetted.content, vetted.identity};
}

bool PluginRegistry::load_content(const PluginFile& file, const VettedFile& vetted, const Report& report) {
    LoadedPlugin plugin = load_plugin(
        vetted.in_place ? spelled_anew(vetted.load_path, tries_in_place_[vetted.load_path]++) : vetted.load_path);
    if (plugin.other_api)
        other_api_ = plugin.other_api;
    if (plugin.harmful)
        plugin.problem = vetting_.condemn(file, plugin.problem);
    if (!plugin.units) {
        leave_out(file.path, plugin.problem, report);
        return false;
    }
    contents_[vetted.content] = std::move(plugin.units);
    return true;
}

void PluginRegistry::leave_out(const std::string& path, const std::string& why, const Report& report) {
    report("UGen plugin not loaded: " + path + ": " + why);
    const std::lock_guard lock(mutex_);
    left_out_[path] = why;
}

void PluginRegistry::note_others(const FoundFiles& found) {
    const std::lock_guard lock(mutex_);
    for (const std::string& path : found.refused)
        if (const RefusedFile* const refused = refusal_of(path))
            left_out_[path] = refused->reason;
    for (const std::string& path : found.supernova_only)
        left_out_[path] = "a build for supernova; install the pack's plain build, the one for scsynth";
    std::vector<std::string> loaded;
    for (const auto& each : loaded_) {
        left_out_.erase(each.first);
        loaded.push_back(each.first);
    }
    std::vector<LeftOut> files;
    for (const auto& [path, why] : left_out_)
        files.push_back({path, why});
    missing_.set_files(std::move(files), std::move(loaded));
}

void PluginRegistry::begin(PluginUnits& units, int generation) {
    const std::lock_guard lock(mutex_);
    for (auto& [name, entry] : units.ugens)
        ugens_.add(name, entry.get(), generation);
    for (auto& [name, run] : units.buf_gens)
        buf_gens_.add(name, run, generation);
    for (auto& [name, versions] : units.commands) {
        if (commands_.find(name, newest_plugins))
            continue;
        // The data loop may be reading an earlier one.
        if (versions.back()->from != 0)
            versions.push_back(std::make_unique<PluginCommand>(versions.back()->run, versions.back()->user_data,
                                                               versions.back()->api));
        versions.back()->from = generation;
        versions.back()->before = std::exchange(latest_commands_[name], versions.back().get());
        commands_.add(name, versions.back().get(), generation);
        if (name != "pluginCmdDemo") // of SuperCollider's DemoUGens
            make_no_more_kept_samples();
    }
    generation_ = generation;
}

void PluginRegistry::end(PluginUnits& units, int generation) {
    const std::lock_guard lock(mutex_);
    for (auto& [name, entry] : units.ugens)
        ugens_.end(name, entry.get(), generation);
    for (auto& [name, run] : units.buf_gens)
        buf_gens_.end(name, run, generation);
    for (auto& [name, versions] : units.commands)
        if (commands_.find(name, newest_plugins) == versions.back().get()) {
            commands_.end(name, versions.back().get(), generation);
            versions.back()->until = generation;
        }
}

void PluginRegistry::follow_release() {
    const UgenInfo* const saw = find("LFSaw");
    if (!saw)
        return;
    const Release its = probe_release(*static_cast<const UgenEntry*>(saw->entry));
    const std::lock_guard lock(mutex_);
    if (releases_.empty() || releases_.back().second != its)
        releases_.emplace_back(generation_, its);
}

std::string PluginRegistry::lacking(const std::string& where) const {
    if (other_api_)
        return "the UGen plugins in " + where + " have plugin API version " + std::to_string(other_api_) + ", not " +
               hosted_versions + ": install SuperCollider 3.9 to 3.15, or set scsynth.ugen-path";
    return "no IOUGens.so in " + where +
           ": install SuperCollider's plugins (package supercollider-server) or set scsynth.ugen-path";
}

const UgenInfo* PluginRegistry::find(std::string_view name, int generation) const {
    const std::lock_guard lock(mutex_);
    const UgenEntry* const entry = ugens_.find(name, generation);
    return entry ? &entry->info : nullptr;
}

BufGen PluginRegistry::find_buf_gen(std::string_view name, int generation) const {
    const std::lock_guard lock(mutex_);
    return buf_gens_.find(name, generation);
}

const PluginCommand* PluginRegistry::latest_command(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto latest = latest_commands_.find(name);
    return latest == latest_commands_.end() ? nullptr : latest->second;
}

size_t PluginRegistry::ugen_count() const {
    return ugen_names().size();
}

std::vector<std::string> PluginRegistry::ugen_names() const {
    const std::lock_guard lock(mutex_);
    return ugens_.names(newest_plugins);
}

Release PluginRegistry::release(int generation) const {
    const std::lock_guard lock(mutex_);
    Release followed = Release::v3_13;
    for (const auto& [from, release] : releases_)
        if (from <= generation)
            followed = release;
    return followed;
}

bool PluginRegistry::define_unit(const char* name, size_t bytes, UnitCtorFunc construct, UnitDtorFunc destroy,
                                 uint32_t flags, PluginApi api) {
    const UnitFacts* const facts = find_unit_facts(name);
    if (facts && facts->refused)
        return false;
    auto entry = std::make_unique<UgenEntry>();
    entry->info = {name, bytes + unregistered_bytes(name), (flags & kUnitDef_CantAliasInputsToOutputs) != 0,
                   entry.get()};
    entry->construct = construct;
    entry->destroy = destroy;
    entry->api = api;
    if (facts && facts->buffer_need.kind != BufferNeed::none)
        entry->need = &facts->buffer_need;
    if (PluginUnits* const file = units_being_loaded())
        return file->ugens.emplace(name, std::move(entry)).second;
    const std::lock_guard lock(mutex_);
    return ugens_.add(name, entry.get(), all_generations) && own_.ugens.emplace(name, std::move(entry)).second;
}

bool PluginRegistry::define_command(const char* name, PlugInCmdFunc run, void* user_data, PluginApi api) {
    PluginUnits* const file = units_being_loaded();
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!file)
        lock.lock();
    const auto [place, is_new] = (file ? file : &own_)->commands.try_emplace(name);
    if (!is_new)
        return false;
    PluginCommand* const command =
        place->second.emplace_back(std::make_unique<PluginCommand>(run, user_data, api)).get();
    if (file)
        return true;
    return commands_.add(name, command, all_generations) && latest_commands_.emplace(name, command).second;
}

bool PluginRegistry::define_unit_command(const char* unit, const char* name, const UnitCommand& command) {
    UgenEntry* entry = nullptr;
    if (PluginUnits* const file = units_being_loaded())
        if (const auto own = file->ugens.find(std::string_view(unit)); own != file->ugens.end())
            entry = own->second.get();
    const std::lock_guard lock(mutex_);
    if (!entry)
        entry = ugens_.find(unit, newest_plugins);
    return entry && entry->commands.emplace(name, command).second;
}

bool PluginRegistry::define_buf_gen(const char* name, BufGenFunc run, PluginApi api) {
    if (PluginUnits* const file = units_being_loaded())
        return file->buf_gens.emplace(name, BufGen{run, api}).second;
    const std::lock_guard lock(mutex_);
    return buf_gens_.add(name, {run, api}, all_generations);
}

const UgenCatalog& installed_ugens() {
    return PluginRegistry::instance();
}

const UgenInfo* UgensOf::find(std::string_view name) const {
    return PluginRegistry::instance().find(name, plugins_);
}

std::string UgensOf::advice(std::string_view name) const {
    return PluginRegistry::instance().advice_on_missing(name, searches_own_folders(path_));
}

Release release_to_follow(const Settings& settings) {
    return release_named(settings.supercollider).value_or(PluginRegistry::instance().release(settings.plugins));
}

Result<int> load_ugens(const std::string& path, const std::function<void(const std::string&)>& report) {
    return PluginRegistry::instance().load(path, report);
}

} // namespace scs

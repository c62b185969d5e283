// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/vetting.hpp"

#include "engine/packs/elf-file.hpp"
#include "engine/packs/file-bytes.hpp"
#include "engine/packs/probe.hpp"

#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace scs {
namespace {

constexpr size_t most_bytes = 1u << 30; ///< of a plugin file

/// Package managers put a new file in an old one's place, so what is loaded stays as it was.
bool is_packaged(const std::string& path) {
    constexpr std::string_view roots[] = {"/usr/", "/nix/store/", "/gnu/store/", "/app/"};
    bool below = false;
    for (const std::string_view root : roots)
        below = below || path.starts_with(root);
    struct stat status;
    return below && !path.starts_with("/usr/local/") && stat(path.c_str(), &status) == 0 && status.st_uid == 0 &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

std::string content_in_place(const FileIdentity& file) {
    return std::to_string(file.device) + ':' + std::to_string(file.inode) + ':' + std::to_string(file.bytes) + ':' +
           std::to_string(file.modified);
}

VettedFile in_place(const PluginFile& file) {
    return {"", file.path, content_in_place(file.identity), true, is_packaged(file.path), file.identity};
}

std::string left_out(const std::string& what) {
    return what + " when it was tried in a process of its own; it is left out until the file changes";
}

} // namespace

/// A file of which nothing was known.
struct Vetting::Fresh {
    PluginFile file;
    VettedFile result;
    std::string copy;     ///< its name in the cache, empty: there is none
    bool lasting = false; ///< whether the result holds until the file changes
};

std::optional<VettedFile> Vetting::recall(const PluginFile& file, const Verdicts& known) const {
    if (const auto own = vetted_.find(file.path); own != vetted_.end() && own->second.identity == file.identity)
        return own->second;
    const Verdict* verdict = known.find(file);
    if (!verdict)
        return {};
    if (!verdict->is_good())
        return VettedFile{verdict->problem, "", "", false, false, file.identity};
    if (verdict->copy.empty())
        return in_place(file);
    if (!cache_->has_copy(verdict->copy, file.identity.bytes))
        return {};
    return VettedFile{"", cache_->copy_path(verdict->copy), verdict->copy, false, false, file.identity};
}

/// A server's start that can't know what the one before has found out makes no other copy of the same content.
std::string Vetting::copy_in_memory_once(const std::string& name, std::span<const std::byte> content) {
    std::string& path = in_memory_[name];
    if (path.empty())
        path = copy_in_memory(name, content);
    return path;
}

/// Reads a file: whether it may be a plugin, and the copy to load instead of it.
Vetting::Fresh Vetting::examine(const PluginFile& file) {
    Fresh fresh{file, {}, "", false};
    FileBytes read = read_file(file.path, most_bytes);
    fresh.result.problem = read.problem;
    if (!read.problem.empty())
        return fresh;
    fresh.file.identity = fresh.result.identity = read.identity;
    ElfFacts elf = read_elf(read.bytes);
    fresh.lasting = !elf.problem.empty();
    fresh.result.problem = std::move(elf.problem);
    if (fresh.lasting)
        return fresh;
    fresh.result = in_place(fresh.file);
    if (elf.seeks_companions || fresh.result.is_packaged)
        return fresh;
    const std::string name = PluginCache::copy_name(file.path, read.bytes);
    std::string path;
    if (cache_ && cache_->make_copy(name, read.bytes)) {
        fresh.copy = name;
        path = cache_->copy_path(name);
    } else {
        path = copy_in_memory_once(name, read.bytes);
    }
    if (!path.empty())
        fresh.result = {"", path, name, false, false, fresh.file.identity};
    return fresh;
}

void Vetting::try_out(std::vector<Fresh>& files, const Report& report) {
    std::vector<std::string> paths;
    std::vector<Fresh*> tried;
    for (Fresh& each : files)
        if (each.result.problem.empty()) {
            // What is only in this process's memory can't be loaded by another one.
            paths.push_back(each.copy.empty() ? each.file.path : each.result.load_path);
            tried.push_back(&each);
        }
    const std::vector<ProbeResult> results = probe_plugins(paths);
    for (size_t i = 0; i < tried.size(); ++i)
        switch (results[i].kind) {
        case ProbeResult::harmless: tried[i]->lasting = true; break;
        case ProbeResult::harmful:
            tried[i]->lasting = true;
            tried[i]->result.problem = left_out(results[i].what);
            if (!tried[i]->copy.empty())
                cache_->remove_copy(tried[i]->copy);
            break;
        case ProbeResult::missing: break;
        case ProbeResult::unknown:
            say_once("UGen plugins can't be tried before they are loaded: " + results[i].what, report);
            break;
        }
}

void Vetting::remember(const std::vector<Fresh>& files) {
    Verdicts made;
    for (const Fresh& each : files)
        if (each.lasting) {
            vetted_[each.file.path] = each.result;
            // A copy in memory ends with the process.
            const bool again = each.result.problem.empty() && !each.result.in_place && each.copy.empty();
            if (!again)
                made.set(each.file.path,
                         {each.file.identity, each.result.problem, each.result.problem.empty() ? each.copy : ""});
        }
    if (cache_ && !made.all().empty())
        cache_->add(made);
}

void Vetting::say_once(const std::string& what, const Report& report) {
    if (!std::exchange(said_[what], true))
        report(what);
}

std::vector<VettedFile> Vetting::vet(const std::vector<PluginFile>& files, const Report& report) {
    cache_.reset();
    if (auto opened = PluginCache::open())
        cache_ = std::move(opened.value());
    else
        say_once("what is found out about UGen plugins isn't remembered, so each start tries them anew: " +
                     opened.error(),
                 report);
    const Verdicts known = cache_ ? cache_->read() : Verdicts();
    std::vector<VettedFile> results(files.size());
    std::vector<Fresh> fresh;
    std::vector<size_t> places;
    for (size_t i = 0; i < files.size(); ++i)
        if (auto recalled = recall(files[i], known)) {
            results[i] = std::move(*recalled);
        } else {
            fresh.push_back(examine(files[i]));
            places.push_back(i);
        }
    if (fresh.empty())
        return results;
    try_out(fresh, report);
    remember(fresh);
    for (size_t i = 0; i < fresh.size(); ++i)
        results[places[i]] = std::move(fresh[i].result);
    return results;
}

std::string Vetting::condemn(const PluginFile& file, const std::string& what) {
    Fresh fresh{file, {}, "", true};
    fresh.result.problem = what + " when it was loaded; it is left out until the file changes";
    fresh.result.identity = file.identity;
    remember({fresh});
    return fresh.result.problem;
}

} // namespace scs

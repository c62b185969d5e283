// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/packs/verdicts.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace scs {

/// The user's folder with what is known of plugin files, and private copies of them, so that a file that is written
/// anew while it is loaded changes nothing. Programs may use it at the same time. [worker]
class PluginCache {
public:
    /// $XDG_CACHE_HOME/pw-scsynth/ugens, or that below ~/.cache, which is made if need be. Error: it can't be, or
    /// somebody else may write to it.
    static Result<PluginCache> open();

    /// What is known. Nothing if that can't be read.
    Verdicts read() const;
    /// Adds to what is known, and removes what was known of files that are gone, and copies that no verdict names. If
    /// another program does so right now, or the disk is full, nothing happens: the files are tried again some time.
    void add(const Verdicts&) const;

    /// The name of a copy with this content.
    static std::string copy_name(std::string_view plugin, std::span<const std::byte> content);
    /// Whether that copy is there and has `bytes` bytes.
    bool has_copy(const std::string& name, size_t bytes) const;
    /// Makes it unless it is there. false: the disk is full, or the like.
    bool make_copy(const std::string& name, std::span<const std::byte> content) const;
    void remove_copy(const std::string& name) const;
    std::string copy_path(const std::string& name) const { return folder_ + '/' + name; }

private:
    explicit PluginCache(std::string folder) : folder_(std::move(folder)) {}
    bool write(const std::string& name, std::span<const std::byte> content) const;
    void remove_unused(const Verdicts&) const;

    std::string folder_;
};

/// Makes a copy in memory, for where there is no such folder; it lasts as long as the process. Returns its path, empty
/// if the system gives none. [worker]
std::string copy_in_memory(const std::string& name, std::span<const std::byte> content);

} // namespace scs

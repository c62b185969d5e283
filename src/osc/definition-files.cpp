// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/definition-files.hpp"

#include "engine/engine.hpp"
#include "osc/file-access.hpp"

#include <climits>
#include <cstddef>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <set>
#include <span>
#include <sys/stat.h>

namespace scs::osc {

namespace {

constexpr uintmax_t max_file_bytes = 64u << 20;
constexpr size_t most_entries = 100'000; ///< of folders that one command looks through

thread_local size_t entries_left; ///< for glob()'s callbacks, which get no argument

/// Paths that match, sorted. A pattern like "*/../*/../*" may match without end, so only so many entries of folders are
/// looked at: glob() calls itself for each folder in the pattern.
std::vector<std::string> matching_paths(const std::string& pattern) {
    std::vector<std::string> paths;
    if (pattern.size() >= PATH_MAX)
        return paths;
    glob_t matches{};
    matches.gl_opendir = [](const char* path) -> void* { return entries_left ? ::opendir(path) : nullptr; };
    matches.gl_closedir = [](void* folder) { ::closedir(static_cast<DIR*>(folder)); };
    matches.gl_readdir = [](void* folder) {
        return entries_left && entries_left-- ? ::readdir(static_cast<DIR*>(folder)) : nullptr;
    };
    matches.gl_stat = [](const char* path, struct stat* found) { return ::stat(path, found); };
    matches.gl_lstat = [](const char* path, struct stat* found) { return ::lstat(path, found); };
    entries_left = most_entries;
    if (::glob(pattern.c_str(), GLOB_TILDE | GLOB_ALTDIRFUNC, nullptr, &matches) == 0)
        paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    return paths;
}

void load_file(const std::string& path, const Settings& settings, LoadedDefinitions& into) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        return;
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size > max_file_bytes) {
        into.errors.push_back(path + ": too large for a SynthDef file");
        return;
    }
    std::vector<std::byte> bytes(size_t(size), std::byte(0));
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) {
        into.errors.push_back(path + ": could not be read");
        return;
    }
    for (auto& definition : load_definitions(bytes, settings, into.errors))
        into.definitions.push_back(std::move(definition));
}

void load_allowed(const std::string& path, const std::string& restricted, const Settings& settings,
                  LoadedDefinitions& into) {
    const auto allowed = allowed_path(path, restricted);
    if (allowed)
        load_file(allowed.value(), settings, into);
    else
        into.denied = true;
}

bool is_definition_file(const std::filesystem::path& path) {
    return path.extension() == ".scsyndef";
}

} // namespace

LoadedDefinitions load_matching(std::string_view pattern, const std::string& restricted, const Settings& settings) {
    LoadedDefinitions result;
    std::string text(pattern);
    if (!restricted.empty() && !text.starts_with('/'))
        text = restricted + "/" + text;
    for (const std::string& path : matching_paths(text))
        if (is_definition_file(path))
            load_allowed(path, restricted, settings, result);
    return result;
}

LoadedDefinitions load_folder(std::string_view folder, const std::string& restricted, const Settings& settings) {
    namespace fs = std::filesystem;
    LoadedDefinitions result;
    const auto allowed = allowed_path(folder, restricted);
    if (!allowed) {
        result.denied = true;
        return result;
    }
    std::error_code error;
    fs::recursive_directory_iterator files(
        allowed.value(),
        fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied, error);
    std::set<std::string> seen{allowed.value()}; // links may lead round in circles
    size_t left = most_entries;
    for (; !error && left > 0 && files != fs::recursive_directory_iterator(); files.increment(error), --left) {
        std::error_code not_there;
        if (files->is_directory(not_there) && !seen.insert(fs::canonical(files->path(), not_there).string()).second)
            files.disable_recursion_pending();
        if (is_definition_file(files->path()))
            load_allowed(files->path().string(), restricted, settings, result);
    }
    return result;
}

bool install(Engine& engine, std::vector<std::unique_ptr<Definition>>& definitions) noexcept {
    bool all = true;
    for (auto& definition : definitions) {
        Definition* replaced = nullptr;
        if (engine.definitions().add(definition.get(), replaced).failed()) {
            all = false;
            continue;
        }
        (void)definition.release();
        if (replaced)
            engine.outbox().hand_back(replaced, Handback::Kind::release);
    }
    return all;
}

} // namespace scs::osc

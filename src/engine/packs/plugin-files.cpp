// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/plugin-files.hpp"

#include "engine/units/unit-facts.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace scs {
namespace {

namespace fs = std::filesystem;

/// SuperCollider 3.15 builds .scx files, and still loads .so.
constexpr std::string_view suffixes[] = {".scx", ".so"};
constexpr std::string_view supernova_ending = "_supernova"; ///< of a name without its suffix
/// A link to "/" would have a server's start search the whole disk.
constexpr size_t most_folders = 20'000;

bool is_plugin(std::string_view file) {
    return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return file.ends_with(suffix); });
}

bool is_there(const fs::path& path) {
    return access(path.c_str(), F_OK) == 0;
}

/// As scsynth and sclang do.
bool is_left_out(std::string folder) {
    std::transform(folder.begin(), folder.end(), folder.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    constexpr std::string_view names[] = {"help", "ignore", ".svn", ".git", "_darcs", "osx", "windows", "iphone"};
    return std::find(std::begin(names), std::end(names), folder) != std::end(names);
}

class Search {
public:
    void run(const PluginFolder& folder) {
        struct stat status;
        if (stat(folder.path.c_str(), &status) != 0) {
            if (!folder.named_by.empty())
                complain(folder, std::strerror(errno));
            return;
        }
        visited_folders_ = 0;
        std::vector<fs::path> files;
        collect(folder.path, status, files);
        if (visited_folders_ > most_folders)
            complain(folder,
                     "more than " + std::to_string(most_folders) + " folders are below it: the rest is left out");
        std::sort(files.begin(), files.end());
        for (const fs::path& each : files)
            add(each);
    }

    FoundFiles take() { return std::move(found_); }

private:
    void complain(const PluginFolder& folder, const std::string& what) {
        const std::string named_by = folder.named_by.empty() ? "" : std::string(folder.named_by) + ": ";
        found_.problems.push_back(named_by + folder.path + ": " + what);
    }

    /// Each folder is entered once, so links that lead back end nowhere.
    void collect(const fs::path& folder, const struct stat& status, std::vector<fs::path>& files) {
        if (!S_ISDIR(status.st_mode) || !folders_.emplace(status.st_dev, status.st_ino).second)
            return;
        if (++visited_folders_ > most_folders)
            return;
        std::error_code error;
        for (fs::directory_iterator each(folder, fs::directory_options::skip_permission_denied, error);
             !error && each != fs::directory_iterator(); each.increment(error)) {
            struct stat inner;
            if (stat(each->path().c_str(), &inner) != 0)
                continue;
            const std::string name = each->path().filename().string();
            if (S_ISDIR(inner.st_mode) && !is_left_out(name))
                collect(each->path(), inner, files);
            else if (S_ISREG(inner.st_mode) && is_plugin(name))
                files.push_back(each->path());
        }
    }

    void add(const fs::path& path) {
        const std::string stem = path.stem().string();
        // Packs have two builds; this server loads the one for scsynth.
        if (stem.ends_with(supernova_ending)) {
            const fs::path plain = path.parent_path() / stem.substr(0, stem.size() - supernova_ending.size());
            if (std::ranges::none_of(
                    suffixes, [&](std::string_view suffix) { return is_there(plain.string() + std::string(suffix)); }))
                found_.supernova_only.push_back(path.string());
            return;
        }
        // What an earlier release has left.
        if (path.extension() == ".so" && is_there(fs::path(path).replace_extension(".scx")))
            return;
        if (refusal_of(path.string())) {
            found_.refused.push_back(path.string());
            return;
        }
        std::error_code error;
        const std::string real = fs::canonical(path, error).string();
        struct stat status;
        if (!error && stat(real.c_str(), &status) == 0 && files_.insert(real).second)
            found_.plugins.push_back({real, identity_of(status)});
    }

    FoundFiles found_;
    std::set<std::pair<dev_t, ino_t>> folders_;
    std::set<std::string> files_;
    size_t visited_folders_ = 0; ///< below the present one of the list
};

} // namespace

FileIdentity identity_of(const struct stat& status) {
    const auto nanoseconds = [](const timespec& time) { return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec; };
    return {uint64_t(status.st_dev), uint64_t(status.st_ino), uint64_t(status.st_size), nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

FoundFiles find_plugin_files(const std::vector<PluginFolder>& folders) {
    Search search;
    for (const PluginFolder& each : folders)
        search.run(each);
    return search.take();
}

} // namespace scs

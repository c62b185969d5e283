// SPDX-License-Identifier: GPL-3.0-or-later
#include "ugen-folders.hpp"

#include "telling-handle.hpp"

#include "engine/packs/plugin-folders.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

namespace scs::spa {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

/// What one handle has said.
struct Said {
    Folders folders;
    bool trust = false;
};

std::map<const spa_handle*, Said>& all_said() {
    static std::map<const spa_handle*, Said> said;
    return said;
}

Folders folders_of(const std::string& path) {
    Folders folders;
    std::istringstream list(path);
    for (std::string each; std::getline(list, each, ':');)
        if (!each.empty()) {
            std::error_code error;
            const fs::path real = fs::weakly_canonical(each, error);
            if (!error)
                folders.push_back(real);
        }
    return folders;
}

bool is_in(const fs::path& folder, const fs::path& other) {
    return std::mismatch(other.begin(), other.end(), folder.begin(), folder.end()).first == other.end();
}

bool is_in_any(const fs::path& folder, const Folders& others) {
    return std::any_of(others.begin(), others.end(), [&](const fs::path& other) { return is_in(folder, other); });
}

bool is_allowed(const fs::path& folder) {
    if (is_in_any(folder, folders_of(added_folders())) || is_in_any(folder, folders_of(supercollider_folders())))
        return true;
    return std::any_of(all_said().begin(), all_said().end(),
                       [&](const auto& each) { return is_in_any(folder, each.second.folders); });
}

void allow(spa_handle* handle, const char* folders) {
    for (const fs::path& each : folders_of(folders))
        all_said()[handle].folders.push_back(each);
}

void trust(spa_handle* handle, bool on) {
    all_said()[handle].trust = on;
}

UgenFolders functions = {allow, trust};

void forget(spa_handle* handle) {
    all_said().erase(handle);
}

} // namespace

const spa_handle_factory ugen_folders =
    TellingHandle<ugen_folders_interface, functions, forget>::factory(ugen_folders_factory);

Result<std::string> allowed_ugen_path(const std::string& path) {
    const auto& said = all_said();
    if (path.empty() || std::any_of(said.begin(), said.end(), [](const auto& each) { return each.second.trust; }))
        return path;
    std::string real;
    std::istringstream list(path + ':'); // so that an empty folder at the end counts, too
    for (std::string each; std::getline(list, each, ':');) {
        for (const fs::path& folder : folders_of(each)) {
            if (!is_allowed(folder))
                return Error{"scsynth.ugen-path: " + how_to_allow(folder.string())};
            real += folder.string();
        }
        real += ':';
    }
    real.pop_back();
    return real;
}

} // namespace scs::spa

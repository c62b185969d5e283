// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/definition-files.hpp"

#include "engine/engine.hpp"
#include "osc/file-access.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <span>

namespace scs::osc {

namespace {

constexpr std::uintmax_t max_file_bytes = 64u << 20;

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

void load_file(const std::string& path, const Settings& settings, LoadedDefinitions& into) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        return;
    into.found = true;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size > max_file_bytes) {
        into.errors.push_back(path + ": too large for a SynthDef file");
        return;
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) {
        into.errors.push_back(path + ": could not be read");
        return;
    }
    for (auto& definition : load_definitions(bytes, settings, into.errors))
        into.definitions.push_back(std::move(definition));
}

LoadedDefinitions load_matching(std::string_view pattern, const std::string& restricted, const Settings& settings) {
    LoadedDefinitions result;
    std::string text(pattern);
    if (!restricted.empty() && !text.starts_with('/'))
        text = restricted + "/" + text;
    glob_t matches{};
    if (::glob(text.c_str(), GLOB_TILDE, nullptr, &matches) == 0)
        for (std::size_t i = 0; i < matches.gl_pathc; ++i)
            if (is_definition_file(matches.gl_pathv[i]))
                load_allowed(matches.gl_pathv[i], restricted, settings, result);
    ::globfree(&matches);
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
        allowed.value(), fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied,
        error);
    constexpr int max_depth = 64; // links may lead round in circles
    for (; !error && files != fs::recursive_directory_iterator(); files.increment(error)) {
        if (files.depth() >= max_depth)
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
        if (!engine.definitions().add(definition.get(), replaced)) {
            all = false;
            continue;
        }
        (void)definition.release();
        if (replaced)
            engine.hand_back(replaced, Handback::Kind::release);
    }
    return all;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/definition-files.hpp"

#include "engine/engine.hpp"
#include "osc/file-access.hpp"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <glob.h>
#include <set>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr size_t most_entries = 100'000; ///< of folders that one command looks through

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// What one command may look into.
class Files {
public:
    explicit Files(const std::string& restricted) : access_(restricted) {}

    /// -1 and errno if there is no such file, or it is outside.
    int open(const std::string& path, int flags) { return access_.open(path, flags, denied); }
    Folder open_folder(const std::string& path) {
        Descriptor fd(open(path, O_RDONLY | O_DIRECTORY));
        Folder folder(fd.get() < 0 ? nullptr : ::fdopendir(fd.get()));
        if (folder)
            fd.take();
        return folder;
    }
    /// The next entry; null at the end, and when the command has looked at enough of them.
    dirent* next(DIR* folder) { return left_ && left_-- ? ::readdir(folder) : nullptr; }
    bool exhausted() const { return left_ == 0; }

    bool denied = false; ///< whether something was outside

private:
    FileAccess access_;
    size_t left_ = most_entries;
};

thread_local Files* globbed; ///< for glob()'s callbacks, which get no argument

int stat_globbed(const char* path, struct stat* found) {
    const Descriptor fd(globbed->open(path, O_PATH));
    return fd.get() < 0 ? -1 : ::fstat(fd.get(), found);
}

/// Paths that match, sorted. A pattern like "*/../*/../*" may match without end, so only a number of entries of folders
/// are looked at: glob() calls itself for each folder in the pattern.
std::vector<std::string> matching_paths(const std::string& pattern, Files& files) {
    std::vector<std::string> paths;
    if (pattern.size() >= PATH_MAX)
        return paths;
    glob_t matches{};
    matches.gl_opendir = [](const char* path) -> void* {
        return globbed->exhausted() ? nullptr : globbed->open_folder(path).release();
    };
    matches.gl_closedir = [](void* folder) { ::closedir(static_cast<DIR*>(folder)); };
    matches.gl_readdir = [](void* folder) { return globbed->next(static_cast<DIR*>(folder)); };
    matches.gl_stat = stat_globbed;
    matches.gl_lstat = stat_globbed;
    globbed = &files;
    if (::glob(pattern.c_str(), GLOB_TILDE | GLOB_ALTDIRFUNC, nullptr, &matches) == 0)
        paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    return paths;
}

void load_file(const std::string& path, const Settings& settings, Files& files, LoadedDefinitions& into) {
    const Descriptor fd(files.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat status;
    if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
        if (errno == EACCES || errno == EMFILE || errno == ENFILE)
            into.errors.push_back(path + ": could not be read");
        return;
    }
    if (!S_ISREG(status.st_mode))
        return;
    if (status.st_size > max_definition_file) {
        into.errors.push_back(path + ": too large for a SynthDef file");
        return;
    }
    std::vector<std::byte> bytes(size_t(status.st_size), std::byte(0));
    if (!read_all(fd.get(), bytes)) {
        into.errors.push_back(path + ": could not be read");
        return;
    }
    for (auto& definition : load_definitions(bytes, settings, into.errors))
        into.definitions.push_back(std::move(definition));
}

bool is_definition_file(std::string_view path) {
    return std::filesystem::path(path).extension() == ".scsyndef";
}

} // namespace

LoadedDefinitions load_matching(std::string_view pattern, const std::string& restricted, const Settings& settings) {
    LoadedDefinitions result;
    Files files(restricted);
    std::string text(pattern);
    if (!restricted.empty() && !text.starts_with('/'))
        text = restricted + "/" + text;
    for (const std::string& path : matching_paths(text, files))
        if (is_definition_file(path))
            load_file(path, settings, files, result);
    result.denied = files.denied;
    return result;
}

LoadedDefinitions load_folder(std::string_view folder, const std::string& restricted, const Settings& settings) {
    LoadedDefinitions result;
    Files files(restricted);
    std::set<std::pair<dev_t, ino_t>> seen; // links may lead round in circles
    std::vector<std::string> folders{std::string(folder)};
    while (!folders.empty()) {
        const std::string path = std::move(folders.back());
        folders.pop_back();
        const Folder open = files.open_folder(path);
        struct stat status;
        if (!open || ::fstat(::dirfd(open.get()), &status) != 0 || !seen.emplace(status.st_dev, status.st_ino).second)
            continue;
        while (const dirent* entry = files.next(open.get())) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..")
                continue;
            std::string below = path + "/" + std::string(name);
            if (is_definition_file(name))
                load_file(below, settings, files, result);
            if (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
                folders.push_back(std::move(below));
        }
    }
    result.denied = files.denied;
    return result;
}

namespace {

class InstallDefinitions final : public Command {
public:
    explicit InstallDefinitions(std::vector<std::unique_ptr<Definition>> definitions)
        : definitions_(std::move(definitions)) {}
    Outcome run(Engine& engine) noexcept override {
        install(engine, definitions_);
        return Outcome::done;
    }

private:
    std::vector<std::unique_ptr<Definition>> definitions_;
};

} // namespace

std::unique_ptr<Command> make_install(std::vector<std::unique_ptr<Definition>> definitions) {
    return std::make_unique<InstallDefinitions>(std::move(definitions));
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/plugin-cache.hpp"

#include "engine/packs/file-bytes.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

namespace scs {
namespace {

namespace fs = std::filesystem;

constexpr char verdicts_name[] = "verdicts", lock_name[] = "lock";
constexpr std::string_view unfinished = ".new-";
constexpr size_t most_verdict_bytes = 32u << 20;
constexpr time_t abandoned_after = 120; ///< s, for what another program may be about to use or name

std::string wanted_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (cache && *cache == '/')
        return std::string(cache) + "/pw-scsynth/ugens";
    return home && *home == '/' ? std::string(home) + "/.cache/pw-scsynth/ugens" : std::string();
}

Error error_at(const std::string& path) {
    return {path + ": " + std::strerror(errno)};
}

/// Makes the folders of the path that aren't there; only their owner may enter them.
bool make_folders(const std::string& path) {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        if (mkdir(path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST)
            return false;
        if (end == path.npos)
            return true;
    }
}

bool write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes = bytes.subspan(size_t(written));
    }
    return true;
}

/// 128 bits that differ for different contents. FNV-1a with a prime of that size; nobody profits from making two alike,
/// as whoever could do so can write the plugin.
std::string hash_text(std::span<const std::byte> content) {
    __extension__ using Wide = unsigned __int128;
    constexpr Wide prime = Wide(1) << 88 | 0x13b;
    Wide hash = Wide(0x6c62272e07bb0142) << 64 | 0x62b821756295c58d;
    for (const std::byte each : content)
        hash = (hash ^ uint8_t(each)) * prime;
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash >> 64),
                  static_cast<unsigned long long>(hash));
    return text;
}

} // namespace

Result<PluginCache> PluginCache::open() {
    const std::string folder = wanted_folder();
    if (folder.empty())
        return Error{"neither HOME nor XDG_CACHE_HOME is set"};
    struct stat status;
    struct statvfs system;
    if (!make_folders(folder) || stat(folder.c_str(), &status) != 0 || access(folder.c_str(), W_OK) != 0)
        return error_at(folder);
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
        return Error{folder + ": others may write to it"};
    if (statvfs(folder.c_str(), &system) != 0 || (system.f_flag & ST_NOEXEC))
        return Error{folder + ": no program may be run from it"};
    return PluginCache(folder);
}

Verdicts PluginCache::read() const {
    const FileBytes text = read_file(copy_path(verdicts_name), most_verdict_bytes);
    return Verdicts::parse({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()});
}

void PluginCache::add(const Verdicts& added) const {
    const int lock = ::open(copy_path(lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        Verdicts all = read();
        for (const auto& [path, verdict] : added.all())
            all.set(path, verdict);
        std::erase_if(all.all(), [](const auto& each) { return access(each.first.c_str(), F_OK) != 0; });
        const std::string text = all.text();
        if (write(verdicts_name, std::as_bytes(std::span(text))))
            remove_unused(all);
    }
    close(lock);
}

std::string PluginCache::copy_name(std::string_view plugin, std::span<const std::byte> content) {
    return hash_text(content) + '-' + std::string(plugin.substr(plugin.rfind('/') + 1));
}

bool PluginCache::has_copy(const std::string& name, size_t bytes) const {
    struct stat status;
    return stat(copy_path(name).c_str(), &status) == 0 && S_ISREG(status.st_mode) && size_t(status.st_size) == bytes &&
           status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

bool PluginCache::make_copy(const std::string& name, std::span<const std::byte> content) const {
    return has_copy(name, content.size()) || write(name, content);
}

void PluginCache::remove_copy(const std::string& name) const {
    unlink(copy_path(name).c_str());
}

/// The file appears when it is complete, in place of an older one.
bool PluginCache::write(const std::string& name, std::span<const std::byte> content) const {
    std::string path = copy_path(std::string(unfinished) + "XXXXXX");
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool written = write_all(fd, content) && fsync(fd) == 0;
    close(fd);
    if (written && std::rename(path.c_str(), copy_path(name).c_str()) == 0)
        return true;
    unlink(path.c_str());
    return false;
}

/// A copy that a process has loaded stays with it until its end.
void PluginCache::remove_unused(const Verdicts& verdicts) const {
    std::set<std::string> used = {verdicts_name, lock_name};
    for (const auto& each : verdicts.all())
        used.insert(each.second.copy);
    std::error_code error;
    for (fs::directory_iterator each(folder_, error); !error && each != fs::directory_iterator();
         each.increment(error)) {
        const std::string name = each->path().filename().string();
        struct stat status;
        if (used.count(name) || stat(each->path().c_str(), &status) != 0)
            continue;
        // Another program may have made it just now, and not yet have said so.
        if (!S_ISREG(status.st_mode) || std::time(nullptr) - status.st_mtime < abandoned_after)
            continue;
        unlink(each->path().c_str());
    }
}

std::string copy_in_memory(const std::string& name, std::span<const std::byte> content) {
    const int fd = memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC);
    if (fd < 0)
        return {};
    if (!write_all(fd, content)) {
        close(fd);
        return {};
    }
    // It stays open: the loader tells libraries apart by their paths, so the number must not be used again.
    return "/proc/self/fd/" + std::to_string(fd);
}

} // namespace scs

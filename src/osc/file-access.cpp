// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/file-access.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <linux/openat2.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scs::osc {

namespace fs = std::filesystem;

namespace {

constexpr mode_t new_file = 0666;

/// An O_PATH descriptor may be that of a link.
int unless_link(int fd) noexcept {
    struct stat status;
    if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISLNK(status.st_mode))
        return fd;
    ::close(fd);
    errno = ELOOP;
    return -1;
}

/// The kernel itself sees to it that nothing outside of `folder` is reached.
int open_beneath(int folder, const std::string& path, int flags, uint64_t further_rules) noexcept {
    open_how how{};
    how.flags = uint64_t(unsigned(flags)) | O_CLOEXEC;
    how.mode = flags & O_CREAT ? new_file : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | further_rules;
    return int(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

/// An old kernel, or a filter that doesn't know the call.
bool lacks_openat2() noexcept {
    return errno == ENOSYS || errno == EPERM;
}

/// `path`, which is relative to `base`, from there: without links and "..". Nothing if it isn't below.
std::optional<std::string> resolve(const fs::path& base, std::string_view path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(base / path, error);
    const auto [in_base, in_real] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
    if (error || in_base != base.end() || std::find(in_real, real.end(), "..") != real.end())
        return {};
    fs::path relative;
    for (auto name = in_real; name != real.end(); ++name)
        if (!name->empty()) // it is, after a slash at the end
            relative /= *name;
    return relative.empty() ? "." : relative.string();
}

} // namespace

int open_step_by_step(int folder, const std::string& path, int flags) noexcept {
    Descriptor reached;
    std::string_view rest = path;
    std::array<char, NAME_MAX + 1> name{};
    for (int at = folder;; at = reached.get()) {
        const size_t slash = rest.find('/');
        const std::string_view next = rest.substr(0, slash);
        if (next.size() > NAME_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        *std::copy(next.begin(), next.end(), name.begin()) = '\0';
        if (slash == rest.npos)
            return unless_link(::openat(at, name.data(), flags | O_NOFOLLOW | O_CLOEXEC, new_file));
        reached = Descriptor(::openat(at, name.data(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (reached.get() < 0)
            return -1;
        rest.remove_prefix(slash + 1);
    }
}

FileAccess::FileAccess(const std::string& restricted) : restricted_(!restricted.empty()) {
    if (!restricted_)
        return;
    std::error_code error;
    base_ = fs::canonical(restricted, error);
    if (!error)
        folder_ = Descriptor(::open(base_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

int FileAccess::open(std::string_view path, int flags, bool& denied) const {
    if (!restricted_)
        return ::open(std::string(path).c_str(), flags | O_CLOEXEC, new_file);
    if (folder_.get() >= 0) {
        // The usual case in one step. It doesn't take absolute links, nor a way that leads out and in again.
        const std::string start = base_.string() + "/";
        const std::string below(path.starts_with(start) ? path.substr(start.size()) : path);
        const int fd = open_beneath(folder_.get(), below.empty() ? "." : below, flags, 0);
        if (fd >= 0 || (errno != EXDEV && errno != EAGAIN && !lacks_openat2()))
            return fd;
        if (const auto resolved = resolve(base_, path)) {
            const int again = open_beneath(folder_.get(), *resolved, flags, RESOLVE_NO_SYMLINKS);
            return again < 0 && lacks_openat2() ? open_step_by_step(folder_.get(), *resolved, flags) : again;
        }
    }
    denied = true;
    errno = EXDEV;
    return -1;
}

bool read_all(int fd, std::span<std::byte> into) noexcept {
    while (!into.empty()) {
        const ssize_t size = ::read(fd, into.data(), into.size());
        if (size <= 0)
            return false;
        into = into.subspan(size_t(size));
    }
    return true;
}

bool write_all(int fd, std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written <= 0)
            return false;
        bytes = bytes.subspan(size_t(written));
    }
    return true;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/file-bytes.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace scs {
namespace {

/// Fills it as far as the file goes. Returns an errno.
int read_all(int fd, std::vector<std::byte>& bytes) {
    size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t more = ::read(fd, bytes.data() + have, bytes.size() - have);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return errno;
        if (more == 0)
            break;
        have += size_t(more);
    }
    bytes.resize(have);
    return 0;
}

void read_open(int fd, size_t most, FileBytes& file) {
    struct stat before, after;
    if (fstat(fd, &before) != 0 || !S_ISREG(before.st_mode)) {
        file.problem = "not a regular file";
        return;
    }
    if (size_t(before.st_size) > most) {
        file.problem = "larger than " + std::to_string(most >> 20) + " MiB";
        return;
    }
    file.identity = identity_of(before);
    file.bytes.resize(size_t(before.st_size));
    if (const int error = read_all(fd, file.bytes); error != 0)
        file.problem = std::strerror(error);
    else if (fstat(fd, &after) != 0 || identity_of(after) != file.identity || file.bytes.size() != file.identity.bytes)
        file.problem = "it is being written to";
}

} // namespace

FileBytes read_file(const std::string& path, size_t most) {
    FileBytes file;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        file.problem = std::strerror(errno);
        return file;
    }
    read_open(fd, most, file);
    close(fd);
    if (!file.problem.empty())
        file.bytes.clear();
    return file;
}

} // namespace scs

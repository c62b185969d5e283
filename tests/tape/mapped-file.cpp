// SPDX-License-Identifier: GPL-3.0-or-later
#include "mapped-file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace scs::test {

MappedFile::~MappedFile() {
    if (memory_)
        munmap(memory_, size_);
}

int MappedFile::open(const std::string& path, size_t size) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    // A page for which the disk has no room would be a SIGBUS in the daemon.
    int res = -posix_fallocate(fd, 0, off_t(size));
    if (res == 0) {
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
        if (memory == MAP_FAILED) {
            res = -errno;
        } else {
            memory_ = memory;
            size_ = size;
        }
    }
    close(fd);
    return res;
}

} // namespace scs::test

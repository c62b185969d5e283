// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/output-file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::trace {

Result<OutputFile> OutputFile::open(const std::string& path) {
    constexpr int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    Descriptor fd(::open(path.c_str(), flags | O_CREAT | O_EXCL, 0666));
    const bool made = fd.get() >= 0;
    if (!made)
        fd = Descriptor(::open(path.c_str(), flags));
    if (fd.get() < 0)
        return Error{"cannot write " + path + ": " + std::strerror(errno)};
    return OutputFile(std::move(fd), path, made);
}

OutputFile::~OutputFile() {
    if (fd_.get() >= 0 && made_ && !started_)
        ::unlink(path_.c_str());
}

bool OutputFile::write(std::string_view text) {
    struct stat status {};
    // A pipe or a device can't be cut.
    if (!std::exchange(started_, true) && ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::ftruncate(fd_.get(), 0) != 0)
        return false;
    while (!text.empty()) {
        const ssize_t count = ::write(fd_.get(), text.data(), text.size());
        if (count < 0 && errno != EINTR)
            return false;
        text.remove_prefix(size_t(std::max<ssize_t>(count, 0)));
    }
    return true;
}

bool OutputFile::finish() {
    return ::close(fd_.take()) == 0;
}

} // namespace scs::trace

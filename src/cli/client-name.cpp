// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/client-name.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace scs::cli {

std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& taken) {
    std::string found = name;
    for (int number = 1; number < 100 && taken(found); ++number)
        found = name + (number < 10 ? "-0" : "-") + std::to_string(number);
    return found;
}

std::string runtime_folder() {
    for (const char* name : {"PIPEWIRE_RUNTIME_DIR", "XDG_RUNTIME_DIR"})
        if (const char* folder = std::getenv(name); folder && *folder)
            return folder;
    return {};
}

void adopt_runtime_folder() {
    const std::string folder = "/run/user/" + std::to_string(::getuid());
    struct stat found {};
    if (runtime_folder().empty() && ::stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
        found.st_uid == ::getuid())
        ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
}

NameLock::NameLock() : fd_(-1) {
    if (const std::string folder = runtime_folder(); !folder.empty())
        fd_ = ::open((folder + "/pw-scsynth.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

NameLock::~NameLock() {
    if (fd_ >= 0)
        ::close(fd_);
}

bool NameLock::take() {
    return fd_ < 0 || ::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

} // namespace scs::cli

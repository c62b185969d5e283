// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/file-replacement.hpp"

#include <array>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace scs::osc {

FileReplacement::FileReplacement(int folder, std::string name, std::string growing, mode_t mode)
    : folder_(folder),
      name_(std::move(name)),
      growing_(std::move(growing)),
      file_(::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode)) {
    if (is_open())
        return;
    file_ = Descriptor(::openat(folder, growing_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    named_ = is_open();
}

FileReplacement::~FileReplacement() {
    if (named_)
        ::unlinkat(folder_, growing_.c_str(), 0);
}

/// A name can be given to a file by its link in /proc alone, and only one that nothing has.
bool FileReplacement::take_place() noexcept {
    std::array<char, 32> link;
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd());
    named_ = named_ || ::linkat(AT_FDCWD, link.data(), folder_, growing_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!named_ || ::renameat(folder_, growing_.c_str(), folder_, name_.c_str()) != 0)
        return false;
    named_ = false;
    return true;
}

std::string random_name(const std::string& name) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    constexpr size_t added = 7;
    std::random_device random;
    std::string text = name.substr(0, NAME_MAX - added) + '.';
    for (size_t i = 1; i < added; ++i)
        text += letters[random() % letters.size()];
    return text;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/file-replacement.hpp"

#include <climits>
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
      file_(::openat(folder, growing_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {}

FileReplacement::~FileReplacement() {
    if (is_open() && !placed_)
        ::unlinkat(folder_, growing_.c_str(), 0);
}

bool FileReplacement::take_place() noexcept {
    placed_ = ::renameat(folder_, growing_.c_str(), folder_, name_.c_str()) == 0;
    return placed_;
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

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace scs::osc {

/// The files that a command may touch: all, or those in one folder. [worker]
class FileAccess {
public:
    /// `restricted`: the folder; empty: all files.
    explicit FileAccess(const std::string& restricted);

    /// As open(2); files that it makes get the mode 0666. -1 and errno if it fails; `denied` is set if the file would
    /// be outside. A path is relative to the folder. Links and ".." may lead anywhere in it, and not outside, even if
    /// somebody exchanges folders for links meanwhile.
    int open(std::string_view path, int flags, bool& denied) const;

private:
    bool restricted_;
    std::filesystem::path base_; ///< of the folder, without links
    Descriptor folder_;          ///< -1: there is none, all is denied
};

/// What FileAccess does on a kernel without openat2(): opens a path of `folder` one name after the other and follows no
/// link. `path`: without "..".
int open_step_by_step(int folder, const std::string& path, int flags) noexcept;

/// Reads as many bytes, or writes them. false: there aren't as many, or errno says why. [worker]
bool read_all(int fd, std::span<std::byte> into) noexcept;
bool write_all(int fd, std::span<const std::byte>) noexcept;

} // namespace scs::osc

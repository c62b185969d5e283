// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <sys/types.h>

namespace scs::osc {

/// A file that grows beside the one whose place it takes when it is complete. So whoever looks finds all of one of
/// them, and nothing that lies there (a FIFO, a link, another file) is opened. While it grows it has no name, so
/// nothing is left of it if the process is killed; it has one where the file system can't do that. [worker]
class FileReplacement {
public:
    /// Makes it in `folder`, which has to be open as long. `growing`: the name that it may need, which nothing may have
    /// yet. is_open() says whether it could, else errno why not.
    FileReplacement(int folder, std::string name, std::string growing, mode_t mode);
    FileReplacement(const FileReplacement&) = delete;
    FileReplacement& operator=(const FileReplacement&) = delete;
    /// Removes it if it hasn't taken its place.
    ~FileReplacement();

    bool is_open() const noexcept { return file_.get() >= 0; }
    /// Of the file that grows.
    int fd() const noexcept { return file_.get(); }
    /// It is the file `name` from now on. false, and errno: it isn't.
    bool take_place() noexcept;

private:
    const int folder_;
    const std::string name_, growing_;
    Descriptor file_;
    bool named_ = false; ///< `growing`
};

/// `name` with six random characters after it, cut to what a name may have. What a FileReplacement in somebody's folder
/// is called. [any but rt]
std::string random_name(const std::string& name);

} // namespace scs::osc

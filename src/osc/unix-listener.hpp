// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/result.hpp"

#include <cstddef>
#include <string>

namespace scs::osc {

/// A listening Unix socket (SOCK_STREAM) with a file that its user alone may use, mode 0600. A file beside it
/// (PATH.lock) is locked as long as it lives: so what a daemon that was killed has left is replaced, and nothing that
/// is in use. Both are removed in the end. [osc], opened on [main]
class UnixListener {
public:
    static constexpr size_t longest_path = 107; ///< bytes

    /// An error names the path: a folder that isn't there, a path that is too long, something else in its place (a
    /// link, a file, another user's socket, one that another program serves).
    static Result<UnixListener> open(const std::string& path);

    UnixListener() = default; ///< not open
    UnixListener(UnixListener&&) noexcept;
    UnixListener& operator=(UnixListener&&) noexcept;
    ~UnixListener();

    int fd() const noexcept { return socket_.get(); } ///< -1: not open
    const std::string& path() const noexcept { return path_; }

private:
    /// What errno, or `why`, says.
    Error failed(const char* why = nullptr) const;
    bool lock();
    /// Removes what nobody serves any more. Else why it stays.
    const char* remove_stale() const;
    bool bind();

    std::string path_;
    Descriptor socket_, lock_;
    bool bound_ = false; ///< the file is this socket's
};

} // namespace scs::osc

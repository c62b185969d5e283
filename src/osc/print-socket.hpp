// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace scs::osc {

/// The way to somebody who shows what the server prints: a Unix socket (SOCK_SEQPACKET) that gets text, each line
/// with its newline. [one thread at a time; not rt]
class PrintSocket {
public:
    /// Connects; waits for the file system the path lies in. The error names the path.
    static Result<PrintSocket> open(const std::string& path);

    PrintSocket() = default; ///< leads nowhere
    PrintSocket(PrintSocket&&) noexcept;
    PrintSocket& operator=(PrintSocket&&) noexcept;
    ~PrintSocket();

    /// Sends a line, given without its newline, without waiting: one that finds no room is lost, and the next that
    /// finds some comes after a line with the number of the lost ones. False: nobody is there, or any more.
    bool print(std::string_view line);

private:
    bool send(std::string_view text);

    int fd_ = -1;
    std::size_t lost_ = 0;
};

} // namespace scs::osc

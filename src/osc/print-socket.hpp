// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace scs::osc {

/// A connection to a program that shows what the server prints: a Unix socket (SOCK_SEQPACKET) that gets text, each
/// line with its newline. [one thread at a time; not rt]
class PrintSocket {
public:
    /// Connects; may wait for the file system that the path is on. The error names the path.
    static Result<PrintSocket> open(const std::string& path);

    PrintSocket() = default; ///< not connected
    PrintSocket(PrintSocket&&) noexcept;
    PrintSocket& operator=(PrintSocket&&) noexcept;
    ~PrintSocket();

    /// Sends a line, given without its newline. Never waits: a line that finds no room is lost, and before the next one
    /// that finds some, a line says how many were. False: not connected, or no longer.
    bool print(std::string_view line);

private:
    bool send(std::string_view text);

    int fd_ = -1;
    size_t lost_ = 0;
};

} // namespace scs::osc

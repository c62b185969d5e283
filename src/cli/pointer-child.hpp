// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <sys/types.h>

namespace scs::cli {

/// `pw-scsynth pointer` for a server, in a process of its own: the display's library may end the program that it is in.
class PointerChild {
public:
    /// Of the server at this port and address; empty: of this machine. By UDP, or by `tcp`.
    PointerChild(const std::string& port, const std::string& address, bool tcp);
    PointerChild(const PointerChild&) = delete;
    PointerChild& operator=(const PointerChild&) = delete;
    /// Ends it.
    ~PointerChild();

private:
    pid_t process_ = -1;
};

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace scs::osc {

/// The kernel's form of the path of a Unix socket, of which no more than 107 bytes count. [any]
inline sockaddr_un unix_address(const std::string& path) noexcept {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    return name;
}

/// Where a server with this port has its Unix socket unless it is told otherwise; empty: there is no runtime folder
/// (XDG_RUNTIME_DIR). [any but rt]
inline std::string usual_socket_path(uint16_t port) {
    const char* folder = std::getenv("XDG_RUNTIME_DIR");
    return folder && *folder == '/' ? std::string(folder) + "/pw-scsynth-" + std::to_string(port) : std::string();
}

} // namespace scs::osc

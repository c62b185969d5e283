// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/binding-options.hpp"
#include "osc/server-settings.hpp"
#include "osc/socket-address.hpp"

#include <string>

namespace scs::osc {

/// What is wrong with settings each of which is allowed by its row; it begins with the key of one. Empty if nothing is.
/// [any but rt]
inline std::string find_conflict(const ServerSettings& settings) {
    if (settings.password.size() > 31)
        return "scsynth.password: expected at most 31 bytes";
    if (!serves_udp(settings) && !settings.tcp)
        return "scsynth.osc.udp = \"" + settings.udp +
               "\": a password turns UDP off, so say scsynth.osc.tcp = true (pw-scsynth -t PORT), or scsynth.osc.udp = "
               "true";
    if (settings.socket != "auto" && settings.socket != "none" && !settings.socket.starts_with('/'))
        return "scsynth.osc.socket = \"" + settings.socket + "\": expected auto, none or a path that begins with /";
    const auto address = to_sockaddr(settings.bind, 0);
    if (!address)
        return "scsynth.osc.bind = \"" + settings.bind +
               "\": expected an IPv4 address of this machine, such as 127.0.0.1";
    if (const auto bindings = parse_bindings(settings.bindings); !bindings)
        return "scsynth.bindings = \"" + settings.bindings + "\": " + bindings.error();
    if (!is_loopback(address.value().sin_addr) && settings.allow != "any")
        return "scsynth.osc.bind = \"" + settings.bind +
               "\": expected an address of this machine alone, such as 127.0.0.1, or scsynth.allow = any, with which "
               "whoever reaches the port commands the server";
    return {};
}

} // namespace scs::osc

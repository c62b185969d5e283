// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/server-list.hpp"

#include "cli/connection.hpp"
#include "engine/base/printable.hpp"

namespace scs::cli {

std::string list_servers(const std::string& command) {
    constexpr const char* port_key = "scsynth.osc.port";
    pw_init(nullptr, nullptr);
    const auto opened = Connection::open(false);
    if (!opened)
        return {};
    Connection& connection = *opened.value();
    // The first round trip tells which nodes there are, the second their properties.
    for (int i = 0; i < 2; ++i)
        if (connection.round_trip() != Connection::Waited::done)
            return {};
    std::string lines;
    for (const uint32_t id : connection.graph().with(port_key)) {
        lines += lines.empty() ? "PipeWire has \"" : "\nPipeWire has \"";
        lines += printable(connection.graph().property(id, PW_KEY_NODE_NAME));
        lines += "\": pw-scsynth " + command + " -u ";
        lines += printable(connection.graph().property(id, port_key));
    }
    return lines;
}

} // namespace scs::cli

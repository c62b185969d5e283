// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/server-list.hpp"

#include "cli/client-name.hpp"
#include "cli/connection.hpp"
#include "cli/devices.hpp"
#include "engine/base/printable.hpp"

#include <memory>

namespace scs::cli {

namespace {

/// A connection that knows all nodes and their properties: the first round trip tells which there are, the second more.
Result<std::unique_ptr<Connection>> look_around() {
    adopt_runtime_folder();
    pw_init(nullptr, nullptr);
    auto opened = Connection::open(false);
    if (!opened)
        return Error{opened.error()};
    for (int i = 0; i < 2; ++i)
        if (const auto waited = opened.value()->round_trip(); waited != Connection::Waited::done)
            return unanswered(waited);
    return opened;
}

} // namespace

std::string list_servers(const std::string& command) {
    constexpr const char* port_key = "scsynth.osc.port";
    const auto opened = look_around();
    if (!opened)
        return {};
    Connection& connection = *opened.value();
    std::string lines;
    for (const uint32_t id : connection.graph().with(port_key)) {
        lines += lines.empty() ? "PipeWire has \"" : "\nPipeWire has \"";
        lines += printable(connection.graph().property(id, PW_KEY_NODE_NAME));
        const std::string port = printable(connection.graph().property(id, port_key));
        lines += "\": pw-scsynth " + command + " -u " + port + " (with a password: -t " + port + " -p WORD)";
    }
    return lines;
}

Result<std::string> list_devices() {
    const auto opened = look_around();
    if (!opened)
        return Error{opened.error()};
    return device_lines(devices_in(opened.value()->graph().all()));
}

} // namespace scs::cli

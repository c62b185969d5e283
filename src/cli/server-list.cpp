// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/server-list.hpp"

#include "cli/client-name.hpp"
#include "cli/connection.hpp"
#include "cli/devices.hpp"
#include "engine/base/printable.hpp"

#include <memory>

namespace scs::cli {

namespace {

constexpr const char* port_key = "scsynth.osc.port";

/// A connection that knows all nodes and their properties: the first round trip tells which there are, the second more.
Result<std::unique_ptr<Connection>> connect() {
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
    const auto opened = connect();
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

status::Surroundings look_around(int port, uint32_t driver) {
    const auto opened = connect();
    if (!opened)
        return {};
    GraphView& graph = opened.value()->graph();
    const uint32_t node = graph.find(port_key, std::to_string(port));
    if (!graph.has(node))
        return {};
    status::Surroundings around{
        .known = true, .node = graph.property(node, PW_KEY_NODE_NAME), .driver = {}, .devices = {}};
    if (graph.has(driver))
        around.driver = graph.property(driver, PW_KEY_NODE_DESCRIPTION);
    if (graph.has(driver) && around.driver.empty())
        around.driver = graph.property(driver, PW_KEY_NODE_NAME);
    for (const Device& device : devices_in(graph.all()))
        around.devices.push_back({device.is_sink, device.name, device.description, device.position});
    return around;
}

Result<std::string> list_devices() {
    const auto opened = connect();
    if (!opened)
        return Error{opened.error()};
    return device_lines(devices_in(opened.value()->graph().all()));
}

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace scs::cli {

using NodeProperties = std::map<std::string, std::string>;

/// A sink or source of the graph. One that is both is listed twice.
struct Device {
    bool is_sink = false;
    std::string name;        ///< node.name
    std::string description; ///< node.description, or else node.nick or node.name
    std::string position;    ///< its channels: "FL,FR"; empty if it doesn't say
    std::string call;        ///< what names it alone among its kind: the description, or else the name
};

/// The devices among these nodes' properties: sinks, then sources, each kind by description.
std::vector<Device> devices_in(const std::vector<NodeProperties>& nodes);

/// Whether a text names a node: by its node.name or object.serial, or a device by part of one of its names or of its
/// card's, of either case. `card` has the properties of the node's device in PipeWire, if it has one. What the text
/// means in the end, the WirePlumber policy decides by the same names (wireplumber/scsynth-devices.lua,
/// scsynth-graph.lua).
bool names_node(std::string_view text, const NodeProperties& node, const NodeProperties& card = {});

/// What `pw-scsynth --devices` prints: a line each of the device's kind, what to call it, its node.name and channels,
/// with tabs between.
std::string device_lines(const std::vector<Device>&);

} // namespace scs::cli

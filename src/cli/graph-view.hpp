// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/pipewire.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace scs::cli {

/// The nodes of a PipeWire daemon with their properties, followed as they change. Belongs to the thread of the
/// core's loop.
class GraphView {
public:
    using Properties = std::map<std::string, std::string>;

    /// Sees what is there once the core's events have been served for a round trip, and another one for properties.
    explicit GraphView(pw_core* core);
    GraphView(const GraphView&) = delete;
    GraphView& operator=(const GraphView&) = delete;
    ~GraphView();

    /// The properties of a node by its global id; null if there is none.
    const Properties* node(uint32_t id) const;
    /// A node that has this property, or SPA_ID_INVALID.
    uint32_t find(const std::string& key, const std::string& value) const;
    /// The node whose node.name or else node.description is `name`, or null.
    const Properties* named(const std::string& name) const;

    /// Asks the daemon to remove a node.
    void destroy(uint32_t id);

private:
    struct Node;
    static const pw_registry_events registry_events;
    static const pw_node_events node_events;

    void add(uint32_t id, const char* type);

    pw_registry* registry_;
    spa_hook listener_{};
    std::map<uint32_t, std::unique_ptr<Node>> nodes_;
};

} // namespace scs::cli

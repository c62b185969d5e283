// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/pipewire.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace scs::cli {

/// The nodes of a PipeWire daemon with their properties, followed as they change. Belongs to the thread of the
/// core's loop.
class GraphView {
public:
    using Properties = std::map<std::string, std::string>;

    /// After one round trip of the core it knows which nodes there are, after a second one their properties.
    explicit GraphView(pw_core* core);
    GraphView(const GraphView&) = delete;
    GraphView& operator=(const GraphView&) = delete;
    ~GraphView();

    /// Whether there is a node of that global id.
    bool has(uint32_t id) const { return nodes_.contains(id); }
    /// A property of the node of that global id, also of one that is gone, as long as no other has its id; empty if
    /// there is none. What a node says last and its end may come at once.
    std::string property(uint32_t id, const std::string& key) const;
    /// A node that has this property, or SPA_ID_INVALID.
    uint32_t find(const std::string& key, const std::string& value) const;
    /// All nodes that have a property of that name.
    std::vector<uint32_t> with(const std::string& key) const;

    /// Asks the daemon to remove a node.
    void destroy(uint32_t id);

private:
    struct SeenNode;
    static const pw_registry_events registry_events;
    static const pw_node_events node_events;

    void add(uint32_t id, const char* type);
    void remove(uint32_t id);

    pw_registry* registry_;
    spa_hook listener_{};
    std::map<uint32_t, std::unique_ptr<SeenNode>> nodes_;
    std::map<uint32_t, Properties> gone_;
};

} // namespace scs::cli

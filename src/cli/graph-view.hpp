// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/extensions/metadata.h>
#include <pipewire/pipewire.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace scs::cli {

/// The nodes, cards and ports of a PipeWire daemon with their properties, and its default devices, followed as they
/// change.
/// Belongs to the thread of the core's loop.
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
    /// The properties of all nodes that there are.
    std::vector<Properties> all() const;
    /// The properties of the card (PipeWire's Device) that a node with these properties is of; empty if there is none.
    Properties card_of(const Properties& node) const;
    /// All nodes that have a property of that name.
    std::vector<uint32_t> with(const std::string& key) const;

    /// All ports by their global ids, with what the registry has of their properties.
    const std::map<uint32_t, Properties>& ports() const { return ports_; }
    /// The node.name of the default sink or source, empty as long as there is none.
    const std::string& default_sink() const { return defaults_[0]; }
    const std::string& default_source() const { return defaults_[1]; }

    /// Whether a session manager is among the daemon's clients. One that came later than this view has no name here.
    bool has_session_manager() const { return !session_managers_.empty(); }

    /// Sets the Props of a node. Not of one in this process: see ServerNode::tell().
    void set_props(uint32_t id, const spa_pod& props);
    /// Asks the daemon to remove a node.
    void destroy(uint32_t id);

private:
    struct Seen;
    struct SeenMetadata;
    static const pw_registry_events registry_events;
    static const pw_node_events node_events;
    static const pw_device_events card_events;
    static const pw_metadata_events metadata_events;

    void add(uint32_t id, const char* type, const spa_dict* properties);
    void add_node(uint32_t id);
    void add_card(uint32_t id);
    void remove(uint32_t id);

    pw_registry* registry_;
    spa_hook listener_{};
    std::map<uint32_t, std::unique_ptr<Seen>> nodes_, cards_;
    std::map<uint32_t, Properties> gone_;
    std::map<uint32_t, Properties> ports_;
    std::unique_ptr<SeenMetadata> metadata_; ///< named "default"; null while there is none
    std::array<std::string, 2> defaults_;    ///< of the sink and the source
    std::set<uint32_t> session_managers_;    ///< ids of clients
};

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/connection.hpp"
#include "cli/environment.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace scs::cli {

/// Links of our node's ports to ports that SC_JACK_DEFAULT_OUTPUTS and _INPUTS name. They are this program's and go
/// with it. A link is made when both its ports are there, and again when one of them was gone; one that somebody
/// removes is not made again. Belongs to the thread of the connection's loop.
class PortLinks {
public:
    /// Of the node with that global id.
    PortLinks(Connection& connection, uint32_t node, const std::optional<PortList>& outputs,
              const std::optional<PortList>& inputs);
    PortLinks(const PortLinks&) = delete;
    PortLinks& operator=(const PortLinks&) = delete;
    ~PortLinks();

    /// Makes and drops links as the graph is now. While the server is idle there are none.
    void update(bool idle);
    /// The names for which there is no port now, or none of ours.
    std::vector<std::string> missing() const;

private:
    using Ports = std::map<uint32_t, GraphView::Properties>;
    struct Link;
    /// One of our ports and what it is to be linked to.
    struct Entry {
        uint32_t target = SPA_ID_INVALID; ///< the port that it was linked to, also if the link is gone
        std::unique_ptr<Link> link;
    };
    struct Side {
        bool output;
        PortList list;
        std::optional<std::regex> pattern;
        std::vector<Entry> entries; ///< of our ports 1, 2 …
    };

    void add(bool output, const std::optional<PortList>& list);
    void update(Side& side, bool idle);
    void drop_links(Side& side) const;
    std::unique_ptr<Link> make_link(bool output, uint32_t own, uint32_t other) const;
    /// The global ids of our ports, by their numbers from 1 on.
    std::map<uint32_t, uint32_t> own_ports(bool output) const;
    bool suits(const GraphView::Properties& port, bool output) const;
    bool is_monitor(const GraphView::Properties& port) const;
    std::string jack_name_of(const GraphView::Properties& port) const;
    /// What a port may be called in the variables.
    std::vector<std::string> names_of(const GraphView::Properties& port) const;
    /// The ports that our ports 1, 2 … are to be linked to, or SPA_ID_INVALID.
    std::vector<uint32_t> targets(const Side& side) const;
    std::vector<uint32_t> matches(const Side& side) const;

    Connection& connection_;
    uint32_t node_;
    std::vector<Side> sides_;
};

} // namespace scs::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/connection.hpp"

#include <map>
#include <string>

namespace scs::cli {

/// A node of our plugin that lives as long as this object: made in the daemon, or in this process and exported.
class ServerNode {
public:
    enum class Place { daemon, this_process };

    explicit ServerNode(Connection& connection) : connection_(connection) {}
    ServerNode(const ServerNode&) = delete;
    ServerNode& operator=(const ServerNode&) = delete;
    ~ServerNode();

    /// Makes it; `properties` are those of the factory. Returns 0, or a negative errno as the plugin or PipeWire
    /// gave it, -ETIMEDOUT, -EPIPE if the daemon is gone, -EINTR on a signal. Not to be called again unless it failed.
    int create(Place place, const std::map<std::string, std::string>& properties);

    /// Its global id; SPA_ID_INVALID before and after its life.
    uint32_t id() const { return id_; }

    /// Gives it a text, as the WirePlumber policy does: "scsynth.unheard" or "scsynth.notice". A node in this process
    /// gets it without the daemon, which reads nothing more of a client until a node of whatever client has answered,
    /// and so would wait for ever for an answer of the client itself.
    void tell(const char* key, const char* text);

private:
    static const pw_proxy_events proxy_events;

    int make_here(std::map<std::string, std::string> properties);
    void drop();

    Connection& connection_;
    pw_proxy* proxy_ = nullptr;
    spa_hook listener_{};
    spa_handle* handle_ = nullptr; ///< of a node in this process
    spa_node* here_ = nullptr;     ///< that node
    uint32_t id_ = SPA_ID_INVALID;
    int error_ = 0; ///< the last one that the daemon reported for the node, a negative errno
};

} // namespace scs::cli

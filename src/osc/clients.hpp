// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/endpoint.hpp"

#include <optional>
#include <span>
#include <vector>

namespace scs::osc {

/// The clients that get notifications (of nodes, triggers, removed SynthDefs) because they sent /notify 1. [osc]
class Clients {
public:
    struct Login {
        Endpoint endpoint;
        int id;
    };

    /// Client IDs are 0 … max - 1.
    explicit Clients(int max);

    int max() const noexcept { return max_; }
    std::span<const Login> all() const noexcept { return logins_; }
    bool full() const noexcept { return free_ids_.empty(); }
    /// The ID that this client has, if it is logged in.
    std::optional<int> find(const Endpoint&) const noexcept;
    /// Logs a new client in, with the requested ID if that is free, otherwise with the one that has been free for
    /// longest. Only if not full() and not logged in already.
    int add(const Endpoint&, int requested) noexcept;
    /// Logs a client out. False if it wasn't logged in.
    bool remove(const Endpoint&) noexcept;
    void clear() noexcept;

private:
    int max_;
    // Both have room for all from the start.
    std::vector<int> free_ids_; ///< the next to be given first
    std::vector<Login> logins_;
};

} // namespace scs::osc

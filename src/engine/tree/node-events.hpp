// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/messages/events.hpp"
#include "engine/nodes/node.hpp"

namespace scs {

struct Complaint;
class Deadline;
class Outbox;

/// What clients and the log are told about nodes. [rt], after construction.
class NodeEvents {
public:
    NodeEvents(const Settings&, Outbox&, Deadline&) noexcept SCS_NONBLOCKING;

    /// Emits an event about the node. `info`, the answer to /n_query, is always emitted, the others only if the ID
    /// isn't negative. None is offline.
    void notify(const Node& node, NodeChange change) noexcept {
        if (notifies_ && (node.id >= 0 || change == NodeChange::info))
            emit(node, change);
    }
    /// Prints a group's children. `at`: null at first, then how far it has come. false: the deadline passed before the
    /// end; call it again with the same arguments.
    bool print_children(const Group&, Node*& at) noexcept SCS_NONBLOCKING;
    void complain(const Complaint&, const Synth&) noexcept SCS_NONBLOCKING;
    /// If a unit of the synth has crashed, or took too long, says so, and `when`, unless that was said already.
    void complain_of_crash(Synth&, const char* when) noexcept SCS_NONBLOCKING;

private:
    void emit(const Node&, NodeChange) noexcept SCS_NONBLOCKING;

    Outbox& outbox_;
    Deadline& deadline_;
    bool notifies_; ///< false: offline
    bool verbose_;  ///< buffers that units can't use are named
};

} // namespace scs

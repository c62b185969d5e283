// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "engine/nodes/node.hpp"

namespace scs {

class Ensemble;
class Pool;
struct Cluster;

/// Where a new or moved node goes; the values are those of /s_new. The last two make a new synth a satellite of the
/// target.
enum class AddAction : int32_t {
    head = 0,
    tail = 1,
    before = 2,
    after = 3,
    replace = 4,
    insert = 5, ///< as head
    preceding,
    succeeding,
};

/// Whether the target is the group that the node goes into.
constexpr bool goes_into(AddAction action) noexcept {
    return action == AddAction::head || action == AddAction::tail || action == AddAction::insert;
}
constexpr bool is_satellite(AddAction action) noexcept {
    return action == AddAction::preceding || action == AddAction::succeeding;
}

/// A place in the tree.
struct Place {
    Group* parent = nullptr;
    Node* previous = nullptr; ///< null: becomes the head
};
inline Place beside(Node& node, bool after) noexcept {
    return {node.parent, after ? &node : node.previous};
}

/// How nodes are linked. [rt]
class Links {
public:
    Links(Group& root, Ensemble& ensemble, Pool& pool) noexcept : root_(root), ensemble_(ensemble), pool_(pool) {}

    /// The place beside or in the target. It is unknown as long as a satellite's target has no cluster.
    Status resolve(AddAction, Node& target, Place&) noexcept SCS_NONBLOCKING;
    void link(Node&, Place) noexcept SCS_NONBLOCKING;
    void unlink(Node&) noexcept SCS_NONBLOCKING;
    /// Puts a cluster around a node that has none. false: there is no memory for it.
    bool gather(Node&) noexcept SCS_NONBLOCKING;

private:
    Group& root_;
    Ensemble& ensemble_;
    Pool& pool_;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"

namespace scs {

/// A node with satellites, in the order in which they run: those that precede it, the node itself, those that succeed
/// it. A satellite with satellites is a cluster in it. So the walk needs no word about satellites, and all of them are
/// moved and paused in one step, as a group is. Clients don't see it: it has no ID, isn't counted, and nothing tells of
/// it. It is there as long as its reference has satellites.
struct Cluster : Group {
    Node* reference = nullptr; ///< null once that is freed: the rest follows before the next command
    /// How often the walk is yet to come by even if the reference is paused, since satellites have ended.
    uint8_t passes = 0;
};

constexpr int most_nested = 16; ///< satellites of satellites; bounds each loop here

// [rt]

inline Cluster* as_cluster(Group* group) noexcept {
    return group && group->cluster ? static_cast<Cluster*>(group) : nullptr;
}
inline Cluster* as_cluster(Node* node) noexcept {
    return node && node->is_group ? as_cluster(static_cast<Group*>(node)) : nullptr;
}
/// The cluster whose reference the node is; null if it has no satellites.
inline Cluster* cluster_of(const Node& node) noexcept {
    Cluster* const around = as_cluster(node.parent);
    return around && around->reference == &node ? around : nullptr;
}
/// The node with its satellites.
inline Node& whole(Node& node) noexcept {
    Cluster* const cluster = cluster_of(node);
    return cluster ? *cluster : node;
}
/// The same with the node's reference and that one's, if it is a satellite.
inline Node& outermost(Node& node) noexcept {
    Node* at = &whole(node);
    while (as_cluster(at->parent))
        at = at->parent;
    return *at;
}
/// The node that a satellite belongs to.
inline Node* reference_of(Node& satellite) noexcept {
    return static_cast<Cluster*>(whole(satellite).parent)->reference;
}

// What clients see of the tree: clusters are looked through. Null: there is none.

inline Group* seen_parent(const Node& node) noexcept {
    Group* at = node.parent;
    while (as_cluster(at))
        at = at->parent;
    return at;
}

/// The first of what is seen in place of this node, or the last.
template <Node* Group::*end>
Node* seen_end(Node* node) noexcept {
    while (Cluster* cluster = as_cluster(node))
        node = cluster->*end;
    return node;
}
inline Node* seen_head(const Group& group) noexcept {
    return seen_end<&Group::head>(group.head);
}
inline Node* seen_tail(const Group& group) noexcept {
    return seen_end<&Group::tail>(group.tail);
}
inline Node* seen_previous(const Node& node) noexcept {
    const Node* at = &node;
    while (!at->previous && as_cluster(at->parent))
        at = at->parent;
    return seen_end<&Group::tail>(at->previous);
}
inline Node* seen_next(const Node& node) noexcept {
    const Node* at = &node;
    while (!at->next && as_cluster(at->parent))
        at = at->parent;
    return seen_end<&Group::head>(at->next);
}

} // namespace scs

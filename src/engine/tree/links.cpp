// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/links.hpp"

#include "engine/ensemble/ensemble.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/rt/pool.hpp"

#include <new>

namespace scs {
namespace {

/// How many satellites lead to this node, itself among them.
int satellite_depth(Node& node) noexcept {
    int depth = 0;
    for (Node* at = &node; at->satellite != Satellite::no; at = reference_of(*at))
        ++depth;
    return depth;
}

void count_children(Group& group, const Node& of, int sign) noexcept {
    const int32_t change =
        sign * (of.is_group && static_cast<const Group&>(of).cluster ? static_cast<const Group&>(of).children : 1);
    group.children += change;
    for (Group* at = &group; at->cluster; at->children += change)
        at = at->parent;
}

} // namespace

Status Links::resolve(AddAction action, Node& target, Place& place) noexcept {
    switch (action) {
    case AddAction::head:
    case AddAction::tail:
    case AddAction::insert:
        if (!target.is_group)
            return {Code::group_not_found, target.id};
        place.parent = static_cast<Group*>(&target);
        place.previous = action == AddAction::tail ? place.parent->tail : nullptr;
        return {};
    case AddAction::before:
    case AddAction::after:
        if (!target.parent) // nothing can be beside the root
            return {Code::node_not_found, target.id};
        place = beside(outermost(target), action == AddAction::after);
        return {};
    case AddAction::replace:
        if (&target == &root_)
            return {Code::cannot_replace_root};
        place = beside(whole(target), true); // which is freed afterwards
        return {};
    case AddAction::preceding:
    case AddAction::succeeding:
        if (&target == &root_)
            return {Code::satellite_of_root};
        if (satellite_depth(target) >= most_nested)
            return {Code::satellites_too_deep};
        if (Cluster* cluster = cluster_of(target))
            place = {cluster, action == AddAction::succeeding ? cluster->tail : target.previous};
        return {};
    }
    return {Code::failed};
}

void Links::link(Node& node, Place place) noexcept {
    node.parent = place.parent;
    node.previous = place.previous;
    Node*& from_left = place.previous ? place.previous->next : place.parent->head;
    node.next = from_left;
    from_left = &node;
    (node.next ? node.next->previous : place.parent->tail) = &node;
    count_children(*place.parent, node, +1);
    ensemble_.entered(node);
}

void Links::unlink(Node& node) noexcept {
    if (!node.is_group)
        ensemble_.leave(static_cast<Synth&>(node));
    (node.previous ? node.previous->next : node.parent->head) = node.next;
    (node.next ? node.next->previous : node.parent->tail) = node.previous;
    node.previous = node.next = nullptr;
    count_children(*node.parent, node, -1);
    node.parent = nullptr;
}

bool Links::gather(Node& node) noexcept {
    void* const memory = pool_.allocate(sizeof(Cluster));
    if (!memory)
        return false;
    auto* const cluster = new (memory) Cluster;
    cluster->id = -1;
    cluster->is_group = true;
    cluster->cluster = true;
    cluster->run = node.run == Run::off || node.run == Run::first_paused ? Run::off : Run::on;
    const Place place = beside(node, false);
    unlink(node);
    link(*cluster, place);
    link(node, {cluster, nullptr});
    cluster->reference = &node;
    return true;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/freeing.hpp"
#include "engine/base/nonblocking.hpp"

#include "engine/definitions/definitions.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/pool.hpp"
#include "engine/tree/links.hpp"
#include "engine/tree/node-counts.hpp"
#include "engine/tree/node-events.hpp"
#include "engine/tree/node-ids.hpp"
#include "engine/tree/run-states.hpp"

#include <algorithm>

namespace scs {
namespace {

// Estimates for the deadline, ns.
constexpr int64_t free_cost = 400; // of freeing a node
constexpr int64_t end_cost = 100;  // of marking one as ending

int64_t unit_count(const Synth& synth) noexcept {
    return int64_t(synth.definition->program->units.size());
}

} // namespace

// ---- one node

void Freeing::drop(Node& node, EndEvent event) noexcept {
    FaultGuard::progress();
    if (event == EndEvent::with_place)
        p_.events.notify(node, NodeChange::end);
    if (Synth* synth = native(node))
        p_.ensemble.destroy(*synth);
    keep_places(node);
    p_.links.unlink(node);
    if (Cluster* const cluster = as_cluster(&node)) {
        stop_emptying(*cluster);
        p_.pool.free(cluster);
        return;
    }
    if (event == EndEvent::without_place)
        p_.events.notify(node, NodeChange::end);
    p_.ids.remove(node);
    if (!node.is_group)
        return drop_synth(static_cast<Synth&>(node));
    stop_emptying(static_cast<Group&>(node));
    p_.counts.count_group(-1);
    p_.pool.free(&node);
}

/// Whatever points at the node points at its neighbour now: the ends of an emptied group, the place of the walk.
inline void Freeing::keep_places(Node& node) noexcept {
    if (Group& group = *node.parent; group.emptying != Emptying::nothing) {
        if (group.ends_back_from == &node)
            group.ends_back_from = node.previous;
        if (group.ends_on_from == &node)
            group.ends_on_from = node.next;
    }
    if (Cluster* const cluster = as_cluster(&node); cluster && place_.group == cluster)
        place_ = {cluster->next, cluster->parent};
    if (Cluster* around = cluster_of(node))
        around->reference = nullptr;
}

/// It is out of the tree.
inline void Freeing::drop_synth(Synth& synth) noexcept {
    p_.runs.ages().put(synth, AgeKind::none);
    p_.counts.count_synth(unit_count(synth), -1);
    if (!synth.graph)
        return let_go(synth);
    if (synth.graph->leave())
        free_left(synth); // else it is called later
}

void Freeing::free_left(Synth& synth) noexcept {
    if (!synth.graph || destroy(synth, p_.deadline))
        return let_go(synth);
    synth.next = leaving_;
    leaving_ = &synth;
}

/// Runs the destructors of its units. false: there was no time for all.
bool Freeing::destroy(Synth& synth, Deadline& deadline) noexcept {
    if (!synth.graph->destroy(deadline))
        return false;
    p_.events.complain_of_crash(synth, " when its synth was freed");
    return true;
}

/// Its units are gone.
inline void Freeing::let_go(Synth& synth) noexcept {
    if (Definition& definition = *synth.definition; --definition.users == 0)
        p_.outbox.hand_back(&definition, Handback::Kind::release);
    p_.pool.free(&synth);
}

bool Freeing::finish_leaving(Deadline& deadline) noexcept {
    while (Synth* const synth = leaving_) {
        if (!destroy(*synth, deadline))
            return false;
        leaving_ = static_cast<Synth*>(synth->next);
        let_go(*synth);
    }
    return true;
}

// ---- clusters, which end with their last satellite

/// Ends a cluster in which nothing is left, or nothing but the reference. Returns whether it was empty, so that the
/// cluster around it may have to be ended, too.
bool Freeing::settle(Cluster& cluster) noexcept {
    Node* const reference = cluster.reference;
    const bool empty = !cluster.head;
    if (!empty && (cluster.head != reference || cluster.tail != reference))
        return false;
    if (reference) {
        Group& group = *cluster.parent;
        p_.links.unlink(*reference);
        p_.links.link(*reference, beside(cluster, true));
        if (group.ends_back_from == &cluster)
            group.ends_back_from = reference;
        if (place_.group == &cluster) // the walk goes on with the reference, or has passed it
            place_ = {place_.next ? place_.next : reference->next, &group};
    }
    drop(cluster, EndEvent::without_place);
    return empty;
}

void Freeing::settle_around(Group* group) noexcept {
    for (Cluster* cluster = as_cluster(group); cluster; cluster = as_cluster(group)) {
        group = cluster->parent;
        if (!settle(*cluster))
            return;
    }
}

// ---- nodes with what depends on them

template <bool in_time>
bool Freeing::free_children(Group& group) noexcept {
    // A group that has groups in it gives them up to its own place first: so nesting needs neither a stack nor a way
    // down that an interruption would make us go again. Of a cluster the reference stays.
    const Node* const kept = group.cluster ? static_cast<Cluster&>(group).reference : nullptr;
    while (Node* const node = kept && group.head == kept ? kept->next : group.head) {
        if (in_time && p_.deadline.spend(free_cost))
            return false;
        Node* const child = node->is_group ? static_cast<Group*>(node)->head : nullptr;
        if (child && child->is_group && static_cast<Group*>(child)->head) {
            p_.links.unlink(*child);
            p_.links.link(*child, {&group, nullptr});
        } else {
            drop(child ? *child : *node, EndEvent::without_place);
        }
    }
    return true;
}

bool Freeing::free_all_in_time(Group& group) noexcept {
    return free_children<true>(group);
}

/// Frees what doesn't outlive the node: what is in it, and its satellites.
template <bool in_time>
bool Freeing::free_dependents(Node& node) noexcept {
    if (node.is_group && !free_children<in_time>(static_cast<Group&>(node)))
        return false;
    Cluster* const cluster = cluster_of(node);
    return !cluster || free_children<in_time>(*cluster);
}

/// Its dependents are freed.
void Freeing::free_last(Node& node) noexcept {
    if (&node == &p_.root)
        return;
    Group* const around = node.parent;
    drop(node, EndEvent::with_place);
    settle_around(around);
}

void Freeing::free(Node& node) noexcept {
    (void)free_dependents<false>(node);
    free_last(node);
}

void Freeing::free_first(Synth& synth) noexcept {
    Cluster* const cluster = cluster_of(synth);
    if (!cluster) {
        free(synth);
        return;
    }
    drop(synth, EndEvent::with_place);
    empty_later(*cluster, Emptying::children);
}

void Freeing::free_everything() noexcept {
    (void)finish<false>();
    (void)free_children<false>(p_.root);
    Deadline none;
    (void)finish_leaving(none);
}

bool Freeing::free_in_time(Node& node) noexcept {
    const Cluster* const cluster = as_cluster(&node);
    Node& freed = cluster && cluster->reference ? *cluster->reference : node;
    if (!free_dependents<true>(freed))
        return false;
    free_last(freed);
    return true;
}

template <bool in_time>
bool Freeing::free_synths(Group& group, NodeWalk& walk) noexcept {
    if (!walk.node)
        walk.node = &group;
    while (Node* const node = walk.node) {
        if (in_time && p_.deadline.spend(free_cost))
            return false;
        Cluster* const cluster = walk.behind ? as_cluster(node) : nullptr;
        walk.step(group);
        if (!node->is_group)
            drop(*node, EndEvent::without_place);
        else if (cluster)
            (void)settle(*cluster);
    }
    return true;
}

bool Freeing::deep_free_in_time(Group& group, NodeWalk& walk) noexcept {
    return free_synths<true>(group, walk);
}

// ---- later

void Freeing::empty_later(Group& group, Emptying emptying) noexcept {
    if (group.emptying == Emptying::nothing) {
        group.previous_emptying = emptying_.last;
        (emptying_.last ? emptying_.last->next_emptying : emptying_.first) = &group;
        emptying_.last = &group;
    }
    group.emptying = std::max(group.emptying, emptying);
    p_.ensemble.order_changed();
}

template <bool in_time>
bool Freeing::end_some(Group& group) noexcept {
    while (Node* const node = group.ends_back_from ? group.ends_back_from : group.ends_on_from) {
        if (in_time && p_.deadline.spend(end_cost))
            return false;
        p_.runs.end(*node);
        (node == group.ends_back_from ? group.ends_back_from : group.ends_on_from) =
            node == group.ends_back_from ? node->previous : node->next;
    }
    return true;
}

void Freeing::stop_emptying(Group& group) noexcept {
    if (group.emptying == Emptying::nothing)
        return;
    if (emptying_.first == &group)
        emptying_.walk = {};
    Group *const before = group.previous_emptying, *const after = group.next_emptying;
    (before ? before->next_emptying : emptying_.first) = after;
    (after ? after->previous_emptying : emptying_.last) = before;
    group.next_emptying = group.previous_emptying = nullptr;
    group.ends_back_from = group.ends_on_from = nullptr;
    group.emptying = Emptying::nothing;
    p_.ensemble.order_changed();
}

template <bool in_time>
bool Freeing::replace() noexcept {
    Node& replaced = *replacing_.replaced;
    if (!free_dependents<in_time>(replaced))
        return false;
    Node& made = *replacing_.made;
    made.satellite = replaced.satellite;
    Place place;
    (void)p_.links.resolve(AddAction::replace, replaced, place); // checked before
    p_.links.link(made, place);
    free(replaced);
    p_.events.notify(made, NodeChange::go);
    replacing_ = {};
    return true;
}

template <bool in_time>
bool Freeing::finish() noexcept {
    while (Group* const group = emptying_.first) {
        if (!end_some<in_time>(*group) || (group->emptying == Emptying::children && !free_children<in_time>(*group)) ||
            (group->emptying == Emptying::synths && !free_synths<in_time>(*group, emptying_.walk)))
            return false;
        stop_emptying(*group);
        settle_around(group);
    }
    if (in_time && !finish_leaving(p_.deadline))
        return false;
    return !replacing_.made || replace<in_time>();
}

// Called from the header.
template bool Freeing::finish<true>() noexcept SCS_NONBLOCKING;

} // namespace scs

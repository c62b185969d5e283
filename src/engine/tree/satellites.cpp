// SPDX-License-Identifier: GPL-3.0-or-later
// Clusters come with a node's first satellite and go with its last one.
#include "engine/nodes/cluster.hpp"

#include "engine/rt/pool.hpp"
#include "engine/tree/tree.hpp"

#include <new>

namespace scs {

bool Tree::gather(Node& node) noexcept {
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

/// Ends a cluster in which nothing is left, or nothing but the reference. Returns whether it was empty, so that the
/// cluster around it may have to be ended, too.
bool Tree::settle(Cluster& cluster) noexcept {
    Node* const reference = cluster.reference;
    const bool empty = !cluster.head;
    if (!empty && (cluster.head != reference || cluster.tail != reference))
        return false;
    if (reference) {
        Group& group = *cluster.parent;
        unlink(*reference);
        link(*reference, beside(cluster, true));
        if (group.ends_back_from == &cluster)
            group.ends_back_from = reference;
        if (place_.group == &cluster) // the walk goes on with the reference, or has passed it
            place_ = {place_.next ? place_.next : reference->next, &group};
    }
    drop(cluster, EndEvent::without_place);
    return empty;
}

/// Settles the cluster that this group is, if it is one, and those around it.
void Tree::settle_around(Group* group) noexcept {
    for (Cluster* cluster = as_cluster(group); cluster; cluster = as_cluster(group)) {
        group = cluster->parent;
        if (!settle(*cluster))
            return;
    }
}

/// A satellite has ended: it is freed when the walk next reaches it, be the reference paused or not.
void Tree::expect_pass(Cluster& cluster) noexcept {
    cluster.passes = 2; // the first may be under way, and past it
    if (cluster.run == Run::off)
        set(cluster, Run::on);
}

void Tree::end_pass(Cluster& cluster) noexcept {
    if (cluster.passes && --cluster.passes == 0 && cluster.reference && cluster.reference->run == Run::off)
        set(cluster, Run::off);
}

void Tree::free_first(Synth& synth) noexcept {
    Cluster* const cluster = cluster_of(synth);
    if (!cluster) {
        free(synth);
        return;
    }
    drop(synth, EndEvent::with_place);
    empty_later(*cluster, Emptying::children);
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/run-states.hpp"

#include "engine/definitions/definitions.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/tree/node-events.hpp"

namespace scs {

void RunStates::set(Node& node, Run run) noexcept {
    node.run = run;
    if (node.is_group) {
        ensemble_.order_changed();
        return;
    }
    auto& synth = static_cast<Synth&>(node);
    ensemble_.run_changed(synth);
    const bool runs = run == Run::first || run == Run::on || run == Run::traced;
    const AgeKind kind = !runs ? AgeKind::none : synth.definition->ends_itself ? AgeKind::ends_itself : AgeKind::stays;
    if (synth.aged != kind)
        ages_.put(synth, kind);
}

void RunStates::set_run(Node& node, bool run) noexcept {
    if (!run && !node.is_group && static_cast<Synth&>(node).aged == AgeKind::paused)
        ages_.put(static_cast<Synth&>(node), AgeKind::none); // from now on it is the client that pauses it
    if (run && node.run == Run::off)
        set(node, Run::on);
    else if (run && node.run == Run::first_paused)
        set(node, Run::first);
    else if (!run && node.run == Run::first)
        set(node, Run::first_paused);
    else if (!run && (node.run == Run::on || node.run == Run::traced))
        set(node, Run::off);
    else
        return;
    if (Cluster* cluster = cluster_of(node))
        set(*cluster, run || cluster->passes ? Run::on : Run::off);
    events_.notify(node, run ? NodeChange::on : NodeChange::off);
}

void RunStates::pause(Synth& synth) noexcept {
    set_run(synth, false);
    ages_.put(synth, AgeKind::paused);
}

void RunStates::resume(Synth& synth) noexcept {
    set_run(synth, true);
}

void RunStates::end(Node& node) noexcept {
    if (&node == &root_)
        return;
    Node& all = whole(node);
    set(all, Run::ending);
    if (Cluster* around = as_cluster(all.parent))
        expect_pass(*around);
    if (const Cluster* cluster = as_cluster(&all); cluster && cluster->reference)
        set(*cluster->reference, Run::ending);
}

/// A satellite has ended: it is freed when the walk next reaches it, be the reference paused or not.
void RunStates::expect_pass(Cluster& cluster) noexcept {
    cluster.passes = 2; // the first may be under way, and past it
    if (cluster.run == Run::off)
        set(cluster, Run::on);
}

void RunStates::end_pass(Cluster& cluster) noexcept {
    if (cluster.passes && --cluster.passes == 0 && cluster.reference && cluster.reference->run == Run::off)
        set(cluster, Run::off);
}

} // namespace scs

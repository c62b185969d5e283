// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/tree/ages.hpp"

namespace scs {

class Ensemble;
class NodeEvents;
struct Cluster;

/// Which nodes run, are paused, or end when the walk next reaches them. [rt]
class RunStates {
public:
    RunStates(Group& root, Ensemble& ensemble, NodeEvents& events) noexcept
        : root_(root), ensemble_(ensemble), events_(events) {}

    /// Sets what a walk does when it reaches the node.
    void set(Node&, Run) noexcept SCS_NONBLOCKING;
    /// Runs or pauses the node, and its satellites with it.
    void set_run(Node&, bool run) noexcept SCS_NONBLOCKING;
    /// Marks a node to be freed, with its satellites, when the walk next reaches it. The root stays.
    void end(Node&) noexcept SCS_NONBLOCKING;
    /// A walk has passed all that is in the cluster.
    void end_pass(Cluster&) noexcept SCS_NONBLOCKING;

    /// The synths that run, and those that pause() has paused, by age.
    Ages& ages() noexcept { return ages_; }
    /// Pauses a synth that runs, until resume() or /n_run; both notify.
    void pause(Synth&) noexcept SCS_NONBLOCKING;
    void resume(Synth&) noexcept SCS_NONBLOCKING;

private:
    void expect_pass(Cluster&) noexcept SCS_NONBLOCKING;

    Group& root_;
    Ensemble& ensemble_;
    NodeEvents& events_;
    Ages ages_;
};

} // namespace scs

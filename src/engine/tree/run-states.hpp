// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
    void set(Node&, Run) noexcept;
    /// Runs or pauses the node, and its satellites with it.
    void set_run(Node&, bool run) noexcept;
    /// Marks a node to be freed, with its satellites, when the walk next reaches it. The root stays.
    void end(Node&) noexcept;
    /// A walk has passed all that is in the cluster.
    void end_pass(Cluster&) noexcept;

    /// The synths that run, and those that pause() has paused, by age.
    Ages& ages() noexcept { return ages_; }
    /// Pauses a synth that runs, until resume() or /n_run; both notify.
    void pause(Synth&) noexcept;
    void resume(Synth&) noexcept;

private:
    void expect_pass(Cluster&) noexcept;

    Group& root_;
    Ensemble& ensemble_;
    NodeEvents& events_;
    Ages ages_;
};

} // namespace scs

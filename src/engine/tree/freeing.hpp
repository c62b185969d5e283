// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/nodes/node.hpp"

namespace scs {

struct Cluster;
class Deadline;
class Ensemble;
class Links;
class NodeCounts;
class NodeEvents;
class NodeIds;
class Outbox;
class Pool;
class RunStates;

/// Frees nodes: at once, or in pieces where they may be many. [rt]
class Freeing {
public:
    /// What it takes nodes away from.
    struct Parts {
        Group& root;
        NodeIds& ids;
        NodeCounts& counts;
        NodeEvents& events;
        Links& links;
        RunStates& runs;
        Ensemble& ensemble;
        Pool& pool;
        Outbox& outbox;
        Deadline& deadline;
    };
    explicit Freeing(const Parts& parts) noexcept : p_(parts) {}

    /// Frees a node at once, with its satellites, and a group with everything in it. The root itself stays: only its
    /// children are freed.
    void free(Node&) noexcept SCS_NONBLOCKING;
    /// Frees a synth at once, its satellites in finish().
    void free_first(Synth&) noexcept SCS_NONBLOCKING;
    /// Frees a synth out of the tree that its units' commands have kept, see UnitGraph::leave().
    void free_left(Synth&) noexcept SCS_NONBLOCKING;
    /// Frees everything but the root, whatever time it takes.
    void free_everything() noexcept SCS_NONBLOCKING;

    // In as many calls as it takes. false: the deadline passed before the end; call it again with the same arguments.

    /// With its satellites.
    bool free_in_time(Node&) noexcept SCS_NONBLOCKING;
    /// Frees every child.
    bool free_all_in_time(Group&) noexcept SCS_NONBLOCKING;
    /// Frees all synths in the group and in its subgroups. The groups stay. `walk`: new at first, then how far it
    /// has come.
    bool deep_free_in_time(Group&, NodeWalk& walk) noexcept SCS_NONBLOCKING;
    /// Frees what the functions below and free_first() have left to be freed, and what is left of synths with many
    /// units that are out of the tree. To be called before each command and each block.
    bool finish() noexcept { return (!emptying_.first && !leaving_ && !replacing_.made) || finish<true>(); }

    /// Frees in finish() what is in a group.
    void empty_later(Group&, Emptying) noexcept SCS_NONBLOCKING;
    /// Puts `made` in the place of `replaced` in finish(), and frees that.
    void replace_later(Node& made, Node& replaced) noexcept { replacing_ = {&made, &replaced}; }
    /// Ends the cluster that this group is, if it is one and has no satellites any more, and those around it.
    void settle_around(Group*) noexcept SCS_NONBLOCKING;

    /// How far a walk through all nodes in their order has come.
    struct WalkPlace {
        Node* next; ///< null at the end of the group
        Group* group;
    };
    /// The present walk's. Stays right while nodes are freed.
    WalkPlace& walk_place() noexcept { return place_; }

private:
    /// Whether /n_end tells the node's place. As in scsynth, nodes that are freed with their group have none.
    enum class EndEvent { with_place, without_place };
    void drop(Node&, EndEvent) noexcept SCS_NONBLOCKING;
    void keep_places(Node&) noexcept SCS_NONBLOCKING;
    void drop_synth(Synth&) noexcept SCS_NONBLOCKING;
    bool destroy(Synth&, Deadline&) noexcept SCS_NONBLOCKING;
    void let_go(Synth&) noexcept SCS_NONBLOCKING;
    bool finish_leaving(Deadline&) noexcept SCS_NONBLOCKING;
    bool settle(Cluster&) noexcept SCS_NONBLOCKING;
    void free_last(Node&) noexcept SCS_NONBLOCKING;
    void stop_emptying(Group&) noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool free_children(Group&) noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool free_dependents(Node&) noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool free_synths(Group&, NodeWalk&) noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool end_some(Group&) noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool replace() noexcept SCS_NONBLOCKING;
    template <bool in_time>
    bool finish() noexcept SCS_NONBLOCKING;

    Parts p_;
    struct {
        Group* first;
        Group* last;
        NodeWalk walk; ///< how far the first of them has come
    } emptying_{};     ///< groups, in the order in which done actions have named them
    struct {
        Node* made; ///< null: none is under way
        Node* replaced;
    } replacing_{};
    WalkPlace place_{};
    Synth* leaving_ = nullptr; ///< synths out of the tree, linked by next, with units still to be destroyed
};

} // namespace scs

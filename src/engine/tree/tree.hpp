// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/events.hpp"
#include "engine/nodes/node.hpp"
#include "engine/tree/ages.hpp"
#include "engine/tree/node-index.hpp"

#include <span>
#include <string_view>

namespace scs {

class Buses;
struct Cluster;
struct Complaint;
class Deadline;
class Ensemble;
class Outbox;
class PluginWorld;
class Pool;

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

/// The node tree and the node IDs. It computes nothing: that is Renderer's. [rt] only, after construction. The root is
/// group 0 and stays.
class Tree {
public:
    /// [worker] Throws if the pool is too small for a root.
    Tree(const Settings&, const Buses&, PluginWorld&, Ensemble&, Pool&, Outbox&, Deadline&);
    ~Tree();

    Group& root() noexcept { return *root_; }
    /// The node of that ID, or null. -1 means the synth or group that was made last.
    Node* find(int32_t id) noexcept;
    Group* find_group(int32_t id) noexcept;
    Synth* find_synth(int32_t id) noexcept;

    /// Makes a synth with its controls at `values` (null: the program's initial ones), puts it into the tree and
    /// announces it (/n_go). Its constructors run when the next block's walk reaches it. id -1: it gets a new negative
    /// one. If it replaces a group or a node with satellites, it may come into the tree in finish_frees() only.
    Status new_synth(Definition&, const float* values, int32_t id, AddAction, int32_t target, Synth*& made) noexcept;
    /// No satellite.
    Status new_group(int32_t id, AddAction, int32_t target, Group*& made, bool parallel = false) noexcept;

    /// Frees a node at once, with its satellites, and a group with everything in it. The root itself stays: only its
    /// children are freed.
    void free(Node&) noexcept;
    /// Frees a synth at once, its satellites in finish_frees().
    void free_first(Synth&) noexcept;

    // In as many calls as it takes. false: the deadline passed before the end; call it again with the same arguments.

    /// With its satellites.
    bool free_in_time(Node&) noexcept;
    /// Frees every child.
    bool free_all_in_time(Group&) noexcept;
    /// Frees all synths in the group and in its subgroups. The groups stay. `walk`: new at first, then how far it
    /// has come.
    bool deep_free_in_time(Group&, NodeWalk& walk) noexcept;
    /// Frees what done actions and free_first() have left to be freed, nodes that were replaced, and what is left of
    /// synths with many units that are out of the tree. false: the deadline passed before the end. To be called before
    /// each command and each block.
    bool finish_frees() noexcept { return (!emptying_.first && !leaving_ && !replacing_.made) || finish_frees<true>(); }

    /// Runs or pauses the node, and its satellites with it.
    void set_run(Node&, bool run) noexcept;
    /// Prints what the node does: a group's children at once, a synth's units in its next block (/n_trace). `at` and
    /// result as for deep_free_in_time().
    bool trace(Node&, Node*& at) noexcept;
    /// Gives a command to a synth's unit, see UnitGraph::command(). Frees the synth if that crashes.
    Status unit_command(Synth&, int64_t unit, std::string_view name, std::span<const std::byte> arguments) noexcept;
    /// Moves a node with its satellites; `status` says whether it could. Beside a satellite means beside its reference
    /// and all satellites of that. Errors: move_into_itself if a group would come into its own descendants;
    /// satellite_moved. The root cannot move. false: the deadline passed before the end, as for free_in_time();
    /// `above`: null at first, then how far it has come.
    bool move_in_time(Node&, AddAction, Node& target, Node*& above, Status& status, bool notifies = true) noexcept;
    /// Gives the synth a negative ID (/s_noid).
    Status hide_id(Synth&) noexcept;
    /// Emits an event about the node. `info`, the answer to /n_query, is always emitted, the others only if the ID
    /// isn't negative.
    void notify(const Node&, NodeChange) noexcept;

    /// Sets a control. As in scsynth, indices out of range are ignored.
    void set_control(Synth&, int64_t index, float value, WhenSet = WhenSet::later) noexcept;
    /// The same for mapping a control to a bus; bus -1 unmaps it. Buses out of range are ignored.
    void map_control(Synth&, int64_t index, int64_t bus, bool audio) noexcept;

    /// Performs a UGen's done action, 0 to 15 as in scsynth.
    void done_action(int action, Synth&) noexcept;
    /// Prints it.
    void complain(const Complaint&, const Synth&) noexcept;
    /// Marks a node to be freed, with its satellites, when the walk next reaches it. The root stays.
    void end(Node&) noexcept;

    // ---- for a walk through all nodes in their order

    /// How far a walk has come.
    struct WalkPlace {
        Node* next; ///< null at the end of the group
        Group* group;
    };
    /// The present walk's. Stays right while nodes are freed.
    WalkPlace& walk_place() noexcept { return place_; }
    /// Sets what a walk does when it reaches the node.
    void set(Node&, Run) noexcept;
    /// A walk has passed all that is in the cluster.
    void end_pass(Cluster&) noexcept;
    /// Frees a synth one of whose units has crashed, and says so.
    void free_crashed(Synth&) noexcept;

    /// The synths that run, and those that pause() has paused, by age.
    Ages& ages() noexcept { return ages_; }
    /// Pauses a synth that runs, until resume() or /n_run; both notify.
    void pause(Synth&) noexcept;
    void resume(Synth&) noexcept;

    int synth_count() const noexcept { return synths_; }
    int group_count() const noexcept { return groups_; }
    int64_t unit_count() const noexcept { return units_; }

private:
    struct Place {
        Group* parent = nullptr;
        Node* previous = nullptr; ///< null: becomes the head
    };
    static Place beside(Node&, bool behind) noexcept;
    /// The place is unknown as long as a satellite's target has no cluster.
    Status resolve(AddAction, Node& target, Place&) noexcept;
    Status check_new(int32_t& id, AddAction, int32_t target, Node*& target_node) noexcept;
    void enter(Node&, AddAction, Node& target) noexcept;
    void count(int synths, int groups, int64_t units) noexcept;
    static void count_children(Group&, const Node& of, int sign) noexcept;
    void link(Node&, Place) noexcept;
    void unlink(Node&) noexcept;
    /// Whether /n_end tells the node's place. As in scsynth, nodes that are freed with their group have none.
    enum class EndEvent { with_place, without_place };
    void drop(Node&, EndEvent) noexcept;
    /// Puts a cluster around a node that has none. false: there is no memory for it.
    bool gather(Node&) noexcept;
    bool settle(Cluster&) noexcept;
    void settle_around(Group*) noexcept;
    void free_last(Node&) noexcept;
    void expect_pass(Cluster&) noexcept;
    /// A synth of this definition has gone.
    void let_go(Definition&) noexcept;
    bool finish_leaving(Deadline&) noexcept;
    int32_t next_hidden_id() noexcept;
    void rename(Node&, int32_t id) noexcept;
    template <bool in_time>
    bool free_children(Group&) noexcept;
    template <bool in_time>
    bool free_dependents(Node&) noexcept;
    template <bool in_time>
    bool free_synths(Group&, NodeWalk&) noexcept;
    void end_neighbours(Synth&, bool front, bool behind) noexcept;
    template <bool in_time>
    bool end_some(Group&) noexcept;
    void empty_later(Group&, Emptying) noexcept;
    void stop_emptying(Group&) noexcept;
    template <bool in_time>
    bool finish_frees() noexcept;
    float zero_for(const Synth&, int index, float zero, WhenSet) const noexcept;

    const Buses& buses_;
    PluginWorld& world_;
    Ensemble& ensemble_;
    Pool& pool_;
    Outbox& outbox_;
    Deadline& deadline_;
    bool notifies_; ///< false: offline
    bool verbose_;  ///< buffers that units can't use are named
    NodeIndex index_;
    Ages ages_;
    Group* root_ = nullptr;
    int synths_ = 0, groups_ = 0;
    int64_t units_ = 0;
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
    int32_t hidden_id_ = -8, recent_id_ = 0;
};

} // namespace scs

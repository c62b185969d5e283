// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/events.hpp"
#include "engine/nodes/node.hpp"
#include "engine/tree/node-index.hpp"

#include <span>
#include <string_view>

namespace scs {

class Buses;
class Ensemble;
class FaultLanding;
class Outbox;
class PluginWorld;
class Pool;

/// Where a new or moved node goes, with the numbers of /s_new.
enum class AddAction : int32_t { head = 0, tail = 1, before = 2, after = 3, replace = 4 };

/// The node tree and the node IDs. [rt] only, after construction. The root is group 0 and stays.
class Tree {
public:
    /// [worker] Throws if the pool is too small for a root.
    Tree(const Settings&, const Buses&, PluginWorld&, Ensemble&, Pool&, Outbox&);
    ~Tree();

    Group& root() noexcept { return *root_; }
    /// The node of that ID; -1 means the one that the last new synth or group got. Null if there is none.
    Node* find(int32_t id) noexcept;
    Group* find_group(int32_t id) noexcept;
    Synth* find_synth(int32_t id) noexcept;

    /// Makes a synth with its controls at `values` (the program's initial ones when null). It is in the tree and
    /// announced (/n_go); its constructors run when its turn comes in the next block. id -1: a new negative one.
    Status new_synth(Definition&, const float* values, int32_t id, AddAction, int32_t target, Synth*& made) noexcept;
    Status new_group(int32_t id, AddAction, int32_t target, Group*& made) noexcept;

    /// Frees a node at once, a group with everything in it. The root's children only, for the root.
    void free(Node&) noexcept;
    /// Frees every child.
    void free_all(Group&) noexcept;
    /// Frees all synths in it and in its groups, leaving the groups.
    void deep_free(Group&) noexcept;
    /// Runs or pauses it.
    void set_run(Node&, bool run) noexcept;
    /// Prints what the node does: a group's children at once, a synth's units in its next block (/n_trace).
    void trace(Node&) noexcept;
    /// Gives a command to a synth's unit: UnitGraph::command(). Frees the synth if that crashes.
    Status unit_command(Synth&, int64_t unit, std::string_view name, std::span<const std::byte> arguments) noexcept;
    /// Moves a node. move_into_itself for a group into its own descendants; the root cannot move.
    Status move(Node&, AddAction, Node& target, bool notifies = true) noexcept;
    /// Gives the synth a negative ID (/s_noid).
    Status hide_id(Synth&) noexcept;
    /// Emits the node's event: as `info`, which answers /n_query, always; otherwise unless the ID is negative.
    void notify(const Node&, NodeChange) noexcept;

    /// Controls of a synth, or of every synth in a group. Indices out of range are ignored, as scsynth does.
    void set_control(Node&, int64_t index, float value) noexcept;
    void set_control(Node&, std::string_view name, int64_t offset, float value) noexcept;
    /// Maps controls to buses; bus -1 unmaps. Buses out of range are ignored.
    void map_control(Node&, int64_t index, int64_t bus, bool audio) noexcept;
    void map_control(Node&, std::string_view name, int64_t offset, int64_t bus, bool audio) noexcept;

    /// What a UGen asks for when it is done: 0 to 15 as scsynth's.
    void done_action(int action, Synth&) noexcept;
    /// Marks a node to be freed when its turn comes next. The root stays.
    void end(Node&) noexcept;

    /// One block of everything that runs, in tree order.
    void render() noexcept;

    int synth_count() const noexcept { return synths_; }
    int group_count() const noexcept { return groups_; }
    int64_t unit_count() const noexcept { return units_; }

private:
    struct Place {
        Group* parent;
        Node* previous; ///< null: at the head
    };
    Status resolve(AddAction, Node& target, Place&) noexcept;
    Status check_new(int32_t& id, AddAction, int32_t target, Node*& target_node) noexcept;
    void enter(Node&, AddAction, Node& target) noexcept;
    void count(int synths, int groups, int64_t units) noexcept;
    void link(Node&, Place) noexcept;
    void unlink(Node&) noexcept;
    /// What /n_end says of the node's place: as in scsynth, nodes that go with their group have none any more.
    enum class EndEvent { with_place, without_place };
    void drop(Node&, EndEvent) noexcept;
    int32_t next_hidden_id() noexcept;
    void rename(Node&, int32_t id) noexcept;
    void first_block(Synth&, FaultLanding&);
    void render(Synth&, FaultLanding&);
    void set(Node&, Run) noexcept;
    void set_one(Synth&, int64_t index, float value) noexcept;
    void map_one(Synth&, int64_t index, int64_t bus, bool audio) noexcept;
    void free_crashed(Synth&) noexcept;
    void walk(FaultLanding&);
    template <class F>
    void each_synth(Node&, F&&) noexcept;

    const Buses& buses_;
    PluginWorld& world_;
    Ensemble& ensemble_;
    Pool& pool_;
    Outbox& outbox_;
    bool notifies_; ///< not offline
    NodeIndex index_;
    Group* root_ = nullptr;
    int synths_ = 0, groups_ = 0;
    int64_t units_ = 0;
    struct {
        Node* next; ///< whose turn comes; null at the end of the group
        Group* group;
        Synth* running;
    } turn_{}; ///< how far render() is
    int32_t hidden_id_ = -8, recent_id_ = 0;
};

} // namespace scs

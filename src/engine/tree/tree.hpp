// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/reply-to.hpp"
#include "engine/nodes/node.hpp"
#include "engine/plugins/synth-messages.hpp"
#include "engine/tree/control-writer.hpp"
#include "engine/tree/freeing.hpp"
#include "engine/tree/links.hpp"
#include "engine/tree/node-actions.hpp"
#include "engine/tree/node-counts.hpp"
#include "engine/tree/node-events.hpp"
#include "engine/tree/node-ids.hpp"
#include "engine/tree/run-states.hpp"

#include <span>
#include <string_view>

namespace scs {

class Buses;
class Deadline;
class Ensemble;
class Outbox;
class PluginWorld;
class Pool;

/// The node tree: makes nodes and moves them, and has what frees, runs and sets them. It computes nothing: that is
/// Renderer's. [rt] only, after construction. The root is group 0 and stays.
class Tree {
public:
    /// [worker] Throws if the pool is too small for a root.
    Tree(const Settings&, const Buses&, PluginWorld&, Ensemble&, Pool&, Outbox&, Deadline&);
    ~Tree();

    Group& root() noexcept { return root_; }
    /// The node of that ID, or null. -1 means the synth or group that was made last.
    Node* find(int32_t id) noexcept { return ids_.find(id); }
    Group* find_group(int32_t id) noexcept SCS_NONBLOCKING;
    Synth* find_synth(int32_t id) noexcept SCS_NONBLOCKING;

    /// Makes a synth with its controls at `values` (null: the program's initial ones), puts it into the tree and
    /// announces it (/n_go). Its constructors run when the next block's walk reaches it. id -1: it gets a new negative
    /// one. If it replaces a group or a node with satellites, it may come into the tree in Freeing::finish() only.
    Status new_synth(Definition&, const float* values, int32_t id, AddAction, int32_t target,
                     Synth*& made) noexcept SCS_NONBLOCKING;
    /// No satellite.
    Status new_group(int32_t id, AddAction, int32_t target, Group*& made,
                     bool parallel = false) noexcept SCS_NONBLOCKING;
    /// Moves a node with its satellites; `status` says whether it could. Beside a satellite means beside its reference
    /// and all satellites of that. Errors: move_into_itself if a group would come into its own descendants;
    /// satellite_moved. The root cannot move. false: the deadline passed before the end, as for
    /// Freeing::free_in_time(); `above`: null at first, then how far it has come.
    bool move_in_time(Node&, AddAction, Node& target, Node*& above, Status& status,
                      bool notifies = true) noexcept SCS_NONBLOCKING;
    /// Gives the synth a negative ID (/s_noid).
    Status hide_id(Synth&) noexcept SCS_NONBLOCKING;
    /// Gives a command to a synth's unit, see UnitGraph::command(). Frees the synth if that crashes.
    Status unit_command(Synth&, int64_t unit, std::string_view name, std::span<const std::byte> arguments,
                        const ReplyTo& from) noexcept SCS_NONBLOCKING;
    /// Prints what the node does: a group's children at once, a synth's units in its next block (/n_trace). `at` and
    /// result as for NodeEvents::print_children().
    bool trace(Node&, Node*& at) noexcept SCS_NONBLOCKING;

    /// Frees a synth one of whose units has crashed, and says so.
    void free_crashed(Synth&) noexcept SCS_NONBLOCKING;
    /// Freeing::free(); what may take longer than a block is freed by freeing().
    void free(Node& node) noexcept { freeing_.free(node); }
    /// Performs a UGen's done action; see done_actions.
    void done_action(int action, Synth& synth) noexcept { actions_.perform(action, synth); }

    Freeing& freeing() noexcept { return freeing_; }
    RunStates& runs() noexcept { return runs_; }
    NodeEvents& events() noexcept { return events_; }
    ControlWriter& controls() noexcept { return controls_; }
    const NodeCounts& counts() const noexcept { return counts_; }

private:
    static Group& make_root(PluginWorld&, Pool&);
    Status check_new(int32_t& id, AddAction, int32_t target, Node*& target_node, Place&) noexcept SCS_NONBLOCKING;
    void enter(Node&, AddAction, Node& target, Place) noexcept SCS_NONBLOCKING;
    void rename(Node&, int32_t id) noexcept SCS_NONBLOCKING;

    PluginWorld& world_;
    Ensemble& ensemble_;
    Pool& pool_;
    Deadline& deadline_;
    Group& root_;
    NodeIds ids_;
    NodeCounts counts_;
    NodeEvents events_;
    Links links_;
    RunStates runs_;
    Freeing freeing_;
    NodeActions actions_;
    ControlWriter controls_;
    SynthMessages messages_;
};

} // namespace scs

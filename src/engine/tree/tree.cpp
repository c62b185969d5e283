// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/tree.hpp"

#include "engine/ensemble/ensemble.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/abi-node.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/pool.hpp"
#include "engine/ugens/complaint.hpp"

#include <new>
#include <stdexcept>

namespace scs {
namespace {

constexpr int64_t climb_cost = 50; // of looking at the group around one: an estimate for the deadline, ns

constexpr size_t aligned(size_t bytes) noexcept {
    return (bytes + 63) & ~size_t(63);
}

/// Null: there is no memory for it.
Group* make_group(PluginWorld& world, Pool& pool) noexcept {
    void* const memory = pool.allocate(aligned(sizeof(Group)) + abi_group_bytes());
    if (!memory)
        return nullptr;
    auto* const group = new (memory) Group;
    group->is_group = true;
    group->abi = make_abi_group(static_cast<std::byte*>(memory) + aligned(sizeof(Group)), world, *group);
    return group;
}

} // namespace

Tree::Tree(const Settings& settings, const Buses& buses, PluginWorld& world, Ensemble& ensemble, Pool& pool,
           Outbox& outbox, Deadline& deadline)
    : world_(world),
      ensemble_(ensemble),
      pool_(pool),
      deadline_(deadline),
      root_(make_root(world, pool)),
      ids_(settings.max_nodes),
      counts_(world),
      events_(settings, outbox, deadline),
      links_(root_, ensemble, pool),
      runs_(root_, ensemble, events_),
      freeing_({root_, ids_, counts_, events_, links_, runs_, ensemble, pool, outbox, deadline}),
      actions_(runs_, freeing_),
      controls_(buses, ensemble),
      messages_(world) {
    ensemble_.set_listener(messages_);
    ensemble_.set_host(this, [](void* host, Synth& synth, int action) SCS_NONBLOCKING {
        const FaultGuard::HostCode whole;
        auto& tree = *static_cast<Tree*>(host);
        if (const auto complaint = Complaint::of(action))
            tree.events_.complain(*complaint, synth);
        else
            tree.done_action(action, synth);
    });
    ids_.add(root_);
    counts_.count_group(+1);
}

Group& Tree::make_root(PluginWorld& world, Pool& pool) {
    if (Group* const root = make_group(world, pool))
        return *root;
    throw std::runtime_error("the real-time memory is too small for a node tree");
}

Tree::~Tree() {
    freeing_.free_everything();
    pool_.free(&root_);
}

// ---- finding

Group* Tree::find_group(int32_t id) noexcept {
    Node* node = find(id);
    return node && node->is_group ? static_cast<Group*>(node) : nullptr;
}

Synth* Tree::find_synth(int32_t id) noexcept {
    Node* node = find(id);
    return node && !node->is_group ? static_cast<Synth*>(node) : nullptr;
}

// ---- making

Status Tree::check_new(int32_t& id, AddAction action, int32_t target, Node*& target_node, Place& place) noexcept {
    target_node = find(target);
    const bool into = goes_into(action);
    if (!target_node || (into && !target_node->is_group))
        return {into ? Code::group_not_found : Code::node_not_found, target};
    if (const Status status = links_.resolve(action, *target_node, place); status.failed())
        return status;
    if (id < -1)
        return {Code::reserved_node_id};
    const bool frees_place = action == AddAction::replace;
    if (id == -1)
        id = ids_.next_hidden();
    else if (const Node* other = ids_.find(id); other && !(frees_place && other == target_node))
        return {Code::duplicate_node_id, id};
    if (ids_.full() && !frees_place)
        return {Code::too_many_nodes};
    return {};
}

void Tree::enter(Node& node, AddAction action, Node& target, Place place) noexcept {
    // As in scsynth, the replaced node sends no /n_end: its ID already belongs to the new one.
    if (action == AddAction::replace)
        rename(target, ids_.next_hidden());
    ids_.add(node);
    if (action == AddAction::replace) {
        freeing_.replace_later(node, target);
        (void)freeing_.finish();
        return;
    }
    if (is_satellite(action))
        node.satellite = action == AddAction::preceding ? Satellite::preceding : Satellite::succeeding;
    links_.link(node, place);
    events_.notify(node, NodeChange::go);
}

Status Tree::new_synth(Definition& definition, const float* values, int32_t id, AddAction action, int32_t target,
                       Synth*& made) noexcept {
    Node* target_node;
    Place place;
    if (const Status status = check_new(id, action, target, target_node, place); status.failed())
        return status;
    if (is_satellite(action) && !cluster_of(*target_node)) {
        if (!links_.gather(*target_node))
            return {Code::out_of_memory};
        (void)links_.resolve(action, *target_node, place); // in the new cluster
    }
    const Program& program = *definition.program;
    const NativeCode* code = definition.code.get();
    const size_t own = code ? sizeof(Synth) : aligned(sizeof(Synth));
    void* memory = pool_.allocate(own + (code ? Voice::bytes(*code) : definition.graph_sizes.whole));
    if (!memory) {
        freeing_.settle_around(target_node->parent);
        return {Code::out_of_memory};
    }
    made = new (memory) Synth;
    made->id = id;
    made->definition = &definition;
    made->facts = definition.facts;
    std::byte* const rest = static_cast<std::byte*>(memory) + own;
    if (code) {
        made->voice = ensemble_.make(rest, *code, values ? values : program.controls.data(), world_.offset(),
                                     world_.subsample_offset());
        if (!made->voice) {
            pool_.free(memory);
            freeing_.settle_around(target_node->parent);
            return {Code::out_of_memory};
        }
    } else {
        made->graph =
            UnitGraph::make(rest, definition.graph_sizes, program, definition.kernels, definition.kernels_of_ticks,
                            definition.may_rest, ensemble_.block_for_graph(), world_, *made, values);
    }
    ++definition.users;
    counts_.count_synth(int64_t(program.units.size()), +1);
    enter(*made, action, *target_node, place);
    runs_.set(*made, Run::first);
    return {};
}

Status Tree::new_group(int32_t id, AddAction action, int32_t target, Group*& made, bool parallel) noexcept {
    Node* target_node;
    Place place;
    if (const Status status = check_new(id, action, target, target_node, place); status.failed())
        return status;
    if (is_satellite(action) || (action == AddAction::replace && target_node->satellite != Satellite::no))
        return {Code::satellite_no_group};
    made = make_group(world_, pool_);
    if (!made)
        return {Code::out_of_memory};
    made->id = id;
    made->parallel = parallel;
    counts_.count_group(+1);
    enter(*made, action, *target_node, place);
    return {};
}

// ---- changing

bool Tree::move_in_time(Node& node, AddAction action, Node& target, Node*& above, Status& status,
                        bool notifies) noexcept {
    Place place;
    status = links_.resolve(action, target, place);
    if (status.failed())
        return true;
    if (&node == &root_) {
        status = {Code::cannot_replace_root};
        return true;
    }
    if (node.satellite != Satellite::no) {
        status = {Code::satellite_moved};
        return true;
    }
    if (node.is_group) {
        Node* at = above ? above : place.parent;
        for (; at && at != &node; at = at->parent)
            if (deadline_.spend(climb_cost)) {
                above = at;
                return false;
            }
        above = nullptr;
        if (at) {
            status = {Code::move_into_itself};
            return true;
        }
    }
    Node& moved = whole(node);
    if (place.previous == &moved) // already there
        place.previous = moved.previous;
    links_.unlink(moved);
    links_.link(moved, place);
    if (notifies)
        events_.notify(node, NodeChange::move);
    return true;
}

void Tree::rename(Node& node, int32_t id) noexcept {
    ids_.rename(node, id);
    if (!node.is_group && !native(node))
        static_cast<Synth&>(node).graph->set_id(id);
}

Status Tree::hide_id(Synth& synth) noexcept {
    rename(synth, ids_.next_hidden());
    return {};
}

bool Tree::trace(Node& node, Node*& at) noexcept {
    if (node.run != Run::on)
        return true;
    if (node.is_group)
        return events_.print_children(static_cast<Group&>(node), at);
    runs_.set(node, Run::traced);
    return true;
}

Status Tree::unit_command(Synth& synth, int64_t unit, std::string_view name, std::span<const std::byte> arguments,
                          const ReplyTo& from) noexcept {
    if (synth.voice) // native units have no commands
        return {unit < 0 || unit >= int64_t(synth.definition->program->units.size()) ? Code::index_out_of_range
                                                                                     : Code::failed};
    const Status status = synth.graph->command(unit, name, arguments, from);
    if (synth.graph->crashed())
        free_crashed(synth);
    return status;
}

void Tree::free_crashed(Synth& synth) noexcept {
    events_.complain_of_crash(synth, "; the synth is freed");
    freeing_.free_first(synth);
}

} // namespace scs

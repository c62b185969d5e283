// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/tree.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/abi-node.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/pool.hpp"
#include "engine/tree/controls.hpp"
#include "engine/ugens/complaint.hpp"
#include "engine/voices/ensemble.hpp"
#include "engine/world/buses.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <stdexcept>

namespace scs {
namespace {

// Estimates for the deadline, ns.
constexpr int64_t free_cost = 400;  // of freeing a node
constexpr int64_t end_cost = 100;   // of marking one as ending
constexpr int64_t climb_cost = 50;  // of looking at the group around one
constexpr int64_t line_cost = 1000; // of a line of text

constexpr int32_t no_order = -2; // what is told in place of a neighbour's ID in a parallel group, as by supernova

constexpr bool is_satellite(AddAction action) noexcept {
    return action == AddAction::preceding || action == AddAction::succeeding;
}

/// How many satellites lead to this node, itself among them.
int satellite_depth(Node& node) noexcept {
    int depth = 0;
    for (Node* at = &node; at->satellite != Satellite::no; at = reference_of(*at))
        ++depth;
    return depth;
}

constexpr size_t aligned(size_t bytes) noexcept {
    return (bytes + 63) & ~size_t(63);
}

const char* name_of(const Node& node) noexcept {
    return node.is_group ? "group" : static_cast<const Synth&>(node).definition->program->name.c_str();
}

} // namespace

Tree::Tree(const Settings& settings, const Buses& buses, PluginWorld& world, Ensemble& ensemble, Pool& pool,
           Outbox& outbox, Deadline& deadline)
    : buses_(buses),
      world_(world),
      ensemble_(ensemble),
      pool_(pool),
      outbox_(outbox),
      deadline_(deadline),
      notifies_(settings.real_time),
      verbose_(settings.verbosity > -1),
      index_(settings.max_nodes) {
    ensemble_.set_host(this, [](void* tree, Synth& synth, int action) {
        const FaultGuard::HostCode whole;
        if (const auto complaint = Complaint::of(action))
            static_cast<Tree*>(tree)->complain(*complaint, synth);
        else
            static_cast<Tree*>(tree)->done_action(action, synth);
    });
    void* memory = pool_.allocate(aligned(sizeof(Group)) + abi_group_bytes());
    if (!memory)
        throw std::runtime_error("the real-time memory is too small for a node tree");
    root_ = new (memory) Group;
    root_->is_group = true;
    root_->abi = make_abi_group(static_cast<std::byte*>(memory) + aligned(sizeof(Group)), world_, *root_);
    index_.add(*root_);
    count(0, +1, 0);
}

Tree::~Tree() {
    (void)finish_frees<false>();
    (void)free_children<false>(*root_);
    Deadline none;
    (void)finish_leaving(none);
    pool_.free(root_);
}

// ---- finding

Node* Tree::find(int32_t id) noexcept {
    return index_.find(id == -1 ? recent_id_ : id);
}

Group* Tree::find_group(int32_t id) noexcept {
    Node* node = find(id);
    return node && node->is_group ? static_cast<Group*>(node) : nullptr;
}

Synth* Tree::find_synth(int32_t id) noexcept {
    Node* node = find(id);
    return node && !node->is_group ? static_cast<Synth*>(node) : nullptr;
}

// ---- placing

Tree::Place Tree::beside(Node& node, bool behind) noexcept {
    return {node.parent, behind ? &node : node.previous};
}

Status Tree::resolve(AddAction action, Node& target, Place& place) noexcept {
    switch (action) {
    case AddAction::head:
    case AddAction::tail:
    case AddAction::insert:
        if (!target.is_group)
            return {Code::group_not_found, target.id};
        place.parent = static_cast<Group*>(&target);
        place.previous = action == AddAction::tail ? place.parent->tail : nullptr;
        return {};
    case AddAction::before:
    case AddAction::after:
        if (!target.parent) // nothing can be beside the root
            return {Code::node_not_found, target.id};
        place = beside(outermost(target), action == AddAction::after);
        return {};
    case AddAction::replace:
        if (&target == root_)
            return {Code::cannot_replace_root};
        place = beside(whole(target), true); // which is freed afterwards
        return {};
    case AddAction::preceding:
    case AddAction::succeeding:
        if (&target == root_)
            return {Code::satellite_of_root};
        if (satellite_depth(target) >= most_nested)
            return {Code::satellites_too_deep};
        if (Cluster* cluster = cluster_of(target))
            place = {cluster, action == AddAction::succeeding ? cluster->tail : target.previous};
        return {};
    }
    return {Code::failed};
}

void Tree::count_children(Group& group, const Node& of, int sign) noexcept {
    const int32_t change =
        sign * (of.is_group && static_cast<const Group&>(of).cluster ? static_cast<const Group&>(of).children : 1);
    group.children += change;
    for (Group* at = &group; at->cluster; at->children += change)
        at = at->parent;
}

void Tree::link(Node& node, Place place) noexcept {
    node.parent = place.parent;
    node.previous = place.previous;
    Node*& from_left = place.previous ? place.previous->next : place.parent->head;
    node.next = from_left;
    from_left = &node;
    (node.next ? node.next->previous : place.parent->tail) = &node;
    count_children(*place.parent, node, +1);
    ensemble_.entered(node);
}

void Tree::unlink(Node& node) noexcept {
    if (!node.is_group)
        ensemble_.leave(static_cast<Synth&>(node));
    (node.previous ? node.previous->next : node.parent->head) = node.next;
    (node.next ? node.next->previous : node.parent->tail) = node.previous;
    node.previous = node.next = nullptr;
    count_children(*node.parent, node, -1);
    node.parent = nullptr;
}

bool Tree::move_in_time(Node& node, AddAction action, Node& target, Node*& above, Status& status,
                        bool notifies) noexcept {
    Place place;
    status = resolve(action, target, place);
    if (status.failed())
        return true;
    if (&node == root_) {
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
    unlink(moved);
    link(moved, place);
    if (notifies)
        notify(node, NodeChange::move);
    return true;
}

// ---- making

int32_t Tree::next_hidden_id() noexcept {
    do
        hidden_id_ = int32_t(uint32_t(hidden_id_ - 8) | 0x80000000u);
    while (index_.find(hidden_id_));
    return hidden_id_;
}

Status Tree::check_new(int32_t& id, AddAction action, int32_t target, Node*& target_node) noexcept {
    target_node = find(target);
    const bool into = goes_into(action);
    if (!target_node || (into && !target_node->is_group))
        return {into ? Code::group_not_found : Code::node_not_found, target};
    Place ignored;
    if (const Status status = resolve(action, *target_node, ignored); status.failed())
        return status;
    if (id < -1)
        return {Code::reserved_node_id};
    const bool frees_place = action == AddAction::replace;
    if (id == -1)
        id = next_hidden_id();
    else if (const Node* other = index_.find(id); other && !(frees_place && other == target_node))
        return {Code::duplicate_node_id, id};
    if (index_.full() && !frees_place)
        return {Code::too_many_nodes};
    return {};
}

void Tree::enter(Node& node, AddAction action, Node& target) noexcept {
    // As in scsynth, the replaced node sends no /n_end: its ID already belongs to the new one.
    if (action == AddAction::replace)
        rename(target, next_hidden_id());
    index_.add(node);
    recent_id_ = node.id;
    if (action == AddAction::replace) {
        replacing_ = {&node, &target};
        (void)finish_frees();
        return;
    }
    if (is_satellite(action))
        node.satellite = action == AddAction::preceding ? Satellite::preceding : Satellite::succeeding;
    Place place;
    (void)resolve(action, target, place); // checked before
    link(node, place);
    notify(node, NodeChange::go);
}

// Called at every change, as units may ask for the counts at any moment of a block.
void Tree::count(int synths, int groups, int64_t units) noexcept {
    synths_ += synths;
    groups_ += groups;
    units_ += units;
    world_.set_counts(units_, synths_, groups_);
}

Status Tree::new_synth(Definition& definition, const float* values, int32_t id, AddAction action, int32_t target,
                       Synth*& made) noexcept {
    Node* target_node;
    if (const Status status = check_new(id, action, target, target_node); status.failed())
        return status;
    if (is_satellite(action) && !cluster_of(*target_node) && !gather(*target_node))
        return {Code::out_of_memory};
    const Program& program = *definition.program;
    const NativeCode* code = definition.code.get();
    const size_t own = code ? sizeof(Synth) : aligned(sizeof(Synth));
    void* memory = pool_.allocate(own + (code ? Voice::bytes(*code) : definition.graph_sizes.whole));
    if (!memory) {
        settle_around(target_node->parent);
        return {Code::out_of_memory};
    }
    made = new (memory) Synth;
    made->id = id;
    made->definition = &definition;
    made->facts = definition.facts;
    std::byte* behind = static_cast<std::byte*>(memory) + own;
    if (code) {
        made->voice = ensemble_.make(behind, *code, values ? values : program.controls.data(), world_.offset(),
                                     world_.subsample_offset());
        if (!made->voice) {
            pool_.free(memory);
            settle_around(target_node->parent);
            return {Code::out_of_memory};
        }
    } else {
        made->graph = UnitGraph::make(behind, definition.graph_sizes, program, definition.kernels,
                                      ensemble_.block_for_graph(), world_, *made, values);
    }
    ++definition.users;
    count(+1, 0, int64_t(program.units.size()));
    enter(*made, action, *target_node);
    set(*made, Run::first);
    return {};
}

Status Tree::new_group(int32_t id, AddAction action, int32_t target, Group*& made, bool parallel) noexcept {
    Node* target_node;
    if (const Status status = check_new(id, action, target, target_node); status.failed())
        return status;
    if (is_satellite(action) || (action == AddAction::replace && target_node->satellite != Satellite::no))
        return {Code::satellite_no_group};
    void* memory = pool_.allocate(aligned(sizeof(Group)) + abi_group_bytes());
    if (!memory)
        return {Code::out_of_memory};
    made = new (memory) Group;
    made->id = id;
    made->is_group = true;
    made->parallel = parallel;
    made->abi = make_abi_group(static_cast<std::byte*>(memory) + aligned(sizeof(Group)), world_, *made);
    count(0, +1, 0);
    enter(*made, action, *target_node);
    return {};
}

// ---- freeing

void Tree::drop(Node& node, EndEvent event) noexcept {
    FaultGuard::progress();
    if (event == EndEvent::with_place)
        notify(node, NodeChange::end);
    if (Synth* synth = native(node))
        ensemble_.destroy(*synth);
    if (Group& group = *node.parent; group.emptying != Emptying::nothing) {
        if (group.ends_back_from == &node)
            group.ends_back_from = node.previous;
        if (group.ends_on_from == &node)
            group.ends_on_from = node.next;
    }
    Cluster* const cluster = as_cluster(&node);
    if (cluster && place_.group == cluster)
        place_ = {cluster->next, cluster->parent};
    if (Cluster* around = cluster_of(node))
        around->reference = nullptr;
    unlink(node);
    if (cluster) {
        stop_emptying(*cluster);
        pool_.free(cluster);
        return;
    }
    if (event == EndEvent::without_place)
        notify(node, NodeChange::end);
    index_.remove(node);
    if (node.is_group) {
        stop_emptying(static_cast<Group&>(node));
        count(0, -1, 0);
    } else {
        auto& synth = static_cast<Synth&>(node);
        ages_.put(synth, AgeKind::none);
        count(-1, 0, -int64_t(synth.definition->program->units.size()));
        if (synth.graph && !synth.graph->destroy(deadline_)) {
            synth.next = leaving_;
            leaving_ = &synth;
            return;
        }
        let_go(*synth.definition);
    }
    pool_.free(&node);
}

void Tree::let_go(Definition& definition) noexcept {
    if (--definition.users == 0)
        outbox_.hand_back(&definition, Handback::Kind::release);
}

bool Tree::finish_leaving(Deadline& deadline) noexcept {
    while (Synth* const synth = leaving_) {
        if (!synth->graph->destroy(deadline))
            return false;
        leaving_ = static_cast<Synth*>(synth->next);
        let_go(*synth->definition);
        pool_.free(synth);
    }
    return true;
}

template <bool in_time>
bool Tree::free_children(Group& group) noexcept {
    // A group that has groups in it gives them up to its own place first: so nesting needs neither a stack nor a way
    // down that an interruption would make us go again. Of a cluster the reference stays.
    const Node* const kept = group.cluster ? static_cast<Cluster&>(group).reference : nullptr;
    while (Node* const node = kept && group.head == kept ? kept->next : group.head) {
        if (in_time && deadline_.spend(free_cost))
            return false;
        Node* const child = node->is_group ? static_cast<Group*>(node)->head : nullptr;
        if (child && child->is_group && static_cast<Group*>(child)->head) {
            unlink(*child);
            link(*child, {&group, nullptr});
        } else {
            drop(child ? *child : *node, EndEvent::without_place);
        }
    }
    return true;
}

bool Tree::free_all_in_time(Group& group) noexcept {
    return free_children<true>(group);
}

/// Frees what doesn't outlive the node: what is in it, and its satellites.
template <bool in_time>
bool Tree::free_dependents(Node& node) noexcept {
    if (node.is_group && !free_children<in_time>(static_cast<Group&>(node)))
        return false;
    Cluster* const cluster = cluster_of(node);
    return !cluster || free_children<in_time>(*cluster);
}

void Tree::free(Node& node) noexcept {
    (void)free_dependents<false>(node);
    free_last(node);
}

/// Its dependents are freed.
void Tree::free_last(Node& node) noexcept {
    if (&node == root_)
        return;
    Group* const around = node.parent;
    drop(node, EndEvent::with_place);
    settle_around(around);
}

bool Tree::free_in_time(Node& node) noexcept {
    const Cluster* const cluster = as_cluster(&node);
    Node& freed = cluster && cluster->reference ? *cluster->reference : node;
    if (!free_dependents<true>(freed))
        return false;
    free_last(freed);
    return true;
}

template <bool in_time>
bool Tree::free_synths(Group& group, NodeWalk& walk) noexcept {
    if (!walk.node)
        walk.node = &group;
    while (Node* const node = walk.node) {
        if (in_time && deadline_.spend(free_cost))
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

bool Tree::deep_free_in_time(Group& group, NodeWalk& walk) noexcept {
    return free_synths<true>(group, walk);
}

void Tree::empty_later(Group& group, Emptying emptying) noexcept {
    if (group.emptying == Emptying::nothing) {
        group.previous_emptying = emptying_.last;
        (emptying_.last ? emptying_.last->next_emptying : emptying_.first) = &group;
        emptying_.last = &group;
    }
    group.emptying = std::max(group.emptying, emptying);
    ensemble_.order_changed();
}

template <bool in_time>
bool Tree::end_some(Group& group) noexcept {
    while (Node* const node = group.ends_back_from ? group.ends_back_from : group.ends_on_from) {
        if (in_time && deadline_.spend(end_cost))
            return false;
        end(*node);
        (node == group.ends_back_from ? group.ends_back_from : group.ends_on_from) =
            node == group.ends_back_from ? node->previous : node->next;
    }
    return true;
}

void Tree::stop_emptying(Group& group) noexcept {
    if (group.emptying == Emptying::nothing)
        return;
    if (emptying_.first == &group)
        emptying_.walk = {};
    Group *const before = group.previous_emptying, *const behind = group.next_emptying;
    (before ? before->next_emptying : emptying_.first) = behind;
    (behind ? behind->previous_emptying : emptying_.last) = before;
    group.next_emptying = group.previous_emptying = nullptr;
    group.ends_back_from = group.ends_on_from = nullptr;
    group.emptying = Emptying::nothing;
    ensemble_.order_changed();
}

template <bool in_time>
bool Tree::finish_frees() noexcept {
    while (Group* const group = emptying_.first) {
        if (!end_some<in_time>(*group) || (group->emptying == Emptying::children && !free_children<in_time>(*group)) ||
            (group->emptying == Emptying::synths && !free_synths<in_time>(*group, emptying_.walk)))
            return false;
        stop_emptying(*group);
        settle_around(group);
    }
    if (in_time && !finish_leaving(deadline_))
        return false;
    if (!replacing_.made)
        return true;
    Node& replaced = *replacing_.replaced;
    if (!free_dependents<in_time>(replaced))
        return false;
    Node& made = *replacing_.made;
    made.satellite = replaced.satellite;
    Place place;
    (void)resolve(AddAction::replace, replaced, place); // checked before
    link(made, place);
    free(replaced);
    notify(made, NodeChange::go);
    replacing_ = {};
    return true;
}

void Tree::end(Node& node) noexcept {
    if (&node == root_)
        return;
    Node& all = whole(node);
    set(all, Run::ending);
    if (Cluster* around = as_cluster(all.parent))
        expect_pass(*around);
    if (const Cluster* cluster = as_cluster(&all); cluster && cluster->reference)
        set(*cluster->reference, Run::ending);
}

// ---- changing

void Tree::set(Node& node, Run run) noexcept {
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

void Tree::pause(Synth& synth) noexcept {
    set_run(synth, false);
    ages_.put(synth, AgeKind::paused);
}

void Tree::resume(Synth& synth) noexcept {
    set_run(synth, true);
}

void Tree::set_run(Node& node, bool run) noexcept {
    if (!run && !node.is_group && static_cast<Synth&>(node).aged == AgeKind::paused)
        ages_.put(static_cast<Synth&>(node), AgeKind::none); // from now on it is the client that pauses it
    if (run && node.run == Run::off) {
        set(node, Run::on);
    } else if (run && node.run == Run::first_paused)
        set(node, Run::first);
    else if (!run && node.run == Run::first)
        set(node, Run::first_paused);
    else if (!run && (node.run == Run::on || node.run == Run::traced))
        set(node, Run::off);
    else
        return;
    if (Cluster* cluster = cluster_of(node))
        set(*cluster, run || cluster->passes ? Run::on : Run::off);
    notify(node, run ? NodeChange::on : NodeChange::off);
}

bool Tree::trace(Node& node, Node*& at) noexcept {
    if (node.run != Run::on)
        return true;
    if (!node.is_group) {
        set(node, Run::traced);
        return true;
    }
    TextLine line;
    bool room = true;
    if (!at) {
        line.add("TRACE Group %d", node.id);
        room = outbox_.print(line.take());
        at = seen_head(static_cast<Group&>(node));
    }
    for (; at && room; at = seen_next(*at)) {
        if (deadline_.spend(line_cost))
            return false;
        line.add("   %d %s", at->id, name_of(*at));
        room = outbox_.print(line.take());
    }
    return true;
}

Status Tree::unit_command(Synth& synth, int64_t unit, std::string_view name,
                          std::span<const std::byte> arguments) noexcept {
    if (synth.voice) // native units have no commands
        return {unit < 0 || unit >= int64_t(synth.definition->program->units.size()) ? Code::index_out_of_range
                                                                                     : Code::failed};
    const Status status = synth.graph->command(unit, name, arguments);
    if (synth.graph->crashed())
        free_crashed(synth);
    return status;
}

void Tree::free_crashed(Synth& synth) noexcept {
    TextLine line;
    line.add("UGen '%s' of synth %d (%s) %s; the synth is freed", synth.graph->crashed_ugen(), synth.id,
             synth.definition->program->name.c_str(), synth.graph->took_too_long() ? "took too long" : "crashed");
    outbox_.complain(line.take());
    free_first(synth);
}

void Tree::rename(Node& node, int32_t id) noexcept {
    index_.remove(node);
    node.id = id;
    index_.add(node);
    if (!node.is_group && !native(node))
        static_cast<Synth&>(node).graph->set_id(id);
}

Status Tree::hide_id(Synth& synth) noexcept {
    rename(synth, next_hidden_id());
    return {};
}

void Tree::set_control(Synth& synth, int64_t index, float value, WhenSet when) noexcept {
    if (index < 0 || index >= control_count(synth))
        return;
    if (value == 0.f)
        value = zero_for(synth, int(index), value, when);
    if (synth.voice)
        return ensemble_.set_control(synth, int(index), value);
    ensemble_.graph_control_changed(synth, int(index), synth.graph->is_mapped(int(index)));
    synth.graph->set_control(int(index), value);
}

/// What a zero becomes, see TurnFacts::gate_controls.
float Tree::zero_for(const Synth& synth, int index, float zero, WhenSet when) const noexcept {
    const bool started = synth.voice ? synth.voice->constructed : synth.graph->constructed();
    if (started || !synth.facts->is_gate(index))
        return zero;
    const float now = synth.voice ? synth.voice->set_values()[index] : synth.graph->control(index);
    const bool was_open = now > 0.f || (now == 0.f && std::signbit(now));
    return when == WhenSet::later && was_open ? -0.f : 0.f;
}

void Tree::map_control(Synth& synth, int64_t index, int64_t bus, bool audio) noexcept {
    if (index < 0 || index >= control_count(synth) ||
        (bus >= 0 && !(audio ? buses_.audio_in_range(bus) : buses_.control_in_range(bus))))
        return;
    if (synth.voice)
        return ensemble_.map_control(synth, int(index), bus < 0 ? 0 : audio ? int32_t(-bus - 1) : int32_t(bus + 1));
    ensemble_.graph_control_changed(synth, int(index), true);
    if (bus < 0)
        synth.graph->unmap(int(index));
    else if (audio)
        synth.graph->map_to_audio_bus(int(index), int(bus));
    else
        synth.graph->map_to_control_bus(int(index), int(bus));
}

// ---- notifying

void Tree::notify(const Node& node, NodeChange change) noexcept {
    if (!notifies_ || (node.id < 0 && change != NodeChange::info))
        return;
    const auto id = [](const Node* n) { return n ? n->id : -1; };
    const auto place = [&](const Group* in, const Node* n) { return in && in->parallel ? no_order : id(n); };
    const Group* group = node.is_group ? static_cast<const Group*>(&node) : nullptr;
    const Group* parent = seen_parent(node);
    const NodeEvent event{
        {EventKind::node, sizeof(NodeEvent)},
        change,
        node.is_group,
        node.id,
        id(parent),
        place(parent, seen_previous(node)),
        place(parent, seen_next(node)),
        place(group, group ? seen_head(*group) : nullptr),
        place(group, group ? seen_tail(*group) : nullptr),
    };
    outbox_.notify(event);
}

} // namespace scs

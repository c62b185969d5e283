// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/tree.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/abi-node.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/pool.hpp"
#include "engine/tree/controls.hpp"
#include "engine/voices/ensemble.hpp"
#include "engine/world/buses.hpp"
#include "engine/world/output-ports.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

namespace scs {
namespace {

// Estimates for the deadline, ns.
constexpr int64_t visit_cost = 100;    // of passing a node that isn't in the cache
constexpr int64_t free_cost = 400;     // of freeing one
constexpr int64_t line_cost = 1000;    // of a line of text
constexpr int64_t dear_synth = 20'000; // above this, the clock is read within a synth, too

constexpr size_t aligned(size_t bytes) noexcept {
    return (bytes + 63) & ~size_t(63);
}

/// The next node in a walk below `top` that visits a group before its children.
Node* following(Node* node, const Node* top) noexcept {
    if (node->is_group)
        if (Node* head = static_cast<Group*>(node)->head)
            return head;
    while (node != top && !node->next)
        node = node->parent;
    return node == top ? nullptr : node->next;
}

const char* name_of(const Node& node) noexcept {
    return node.is_group ? "group" : static_cast<const Synth&>(node).definition->program->name.c_str();
}

/// Prefetches the first `bytes` of a node, and so of its synth, into the cache while another is computed: with hundreds
/// of synths, none is still there from the last block. Reaching beyond a smaller synth does no harm.
template <size_t bytes>
void fetch_ahead(const Node* node) noexcept {
    const auto* at = reinterpret_cast<const char*>(node);
#pragma GCC unroll 24
    for (size_t i = 0; i < bytes; i += cache_line)
        __builtin_prefetch(at + i);
}

/// This node as a synth of native UGens; null if it is none.
Synth* native(Node& node) noexcept {
    Synth* synth = node.is_group ? nullptr : &static_cast<Synth&>(node);
    return synth && synth->voice ? synth : nullptr;
}

bool is_within(const Node* node, const Node* group) noexcept {
    while (node && node != group)
        node = node->parent;
    return node != nullptr;
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
      index_(settings.max_nodes) {
    ensemble_.set_host(this, [](void* tree, Synth& synth, int action) {
        const FaultGuard::HostCode whole;
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
    free_all(*root_);
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

Status Tree::resolve(AddAction action, Node& target, Place& place) noexcept {
    switch (action) {
    case AddAction::head:
    case AddAction::tail:
        if (!target.is_group)
            return {Code::group_not_found, target.id};
        place.parent = static_cast<Group*>(&target);
        place.previous = action == AddAction::tail ? place.parent->tail : nullptr;
        return {};
    case AddAction::before:
    case AddAction::after:
        if (!target.parent) // nothing can be beside the root
            return {Code::node_not_found, target.id};
        place.parent = target.parent;
        place.previous = action == AddAction::after ? &target : target.previous;
        return {};
    case AddAction::replace:
        if (&target == root_)
            return {Code::cannot_replace_root};
        place.parent = target.parent;
        place.previous = target.previous;
        return {};
    }
    return {Code::failed};
}

void Tree::link(Node& node, Place place) noexcept {
    node.parent = place.parent;
    node.previous = place.previous;
    Node*& from_left = place.previous ? place.previous->next : place.parent->head;
    node.next = from_left;
    from_left = &node;
    (node.next ? node.next->previous : place.parent->tail) = &node;
    ++place.parent->children;
    ensemble_.entered(node);
}

void Tree::unlink(Node& node) noexcept {
    if (Synth* synth = native(node))
        ensemble_.leave(*synth);
    (node.previous ? node.previous->next : node.parent->head) = node.next;
    (node.next ? node.next->previous : node.parent->tail) = node.previous;
    node.previous = node.next = nullptr;
    --node.parent->children;
    node.parent = nullptr;
}

Status Tree::move(Node& node, AddAction action, Node& target, bool notifies) noexcept {
    Place place;
    if (const Status status = resolve(action, target, place); status.failed())
        return status;
    if (&node == root_)
        return {Code::cannot_replace_root};
    if (node.is_group && is_within(place.parent, &node))
        return {Code::move_into_itself};
    if (place.previous == &node) // already there
        place.previous = node.previous;
    unlink(node);
    link(node, place);
    if (notifies)
        notify(node, NodeChange::move);
    return {};
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
    const bool into = action == AddAction::head || action == AddAction::tail;
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
    Place place;
    (void)resolve(action, target, place); // checked before
    if (action == AddAction::replace) {
        // As in scsynth, the replaced node sends no /n_end: its ID already belongs to the new one.
        rename(target, next_hidden_id());
        free(target);
    }
    index_.add(node);
    recent_id_ = node.id;
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
    const Program& program = *definition.program;
    const NativeCode* code = definition.code.get();
    const size_t own = code ? sizeof(Synth) : aligned(sizeof(Synth));
    void* memory = pool_.allocate(own + (code ? Voice::bytes(*code) : UnitGraph::bytes(program, definition.kernels)));
    if (!memory)
        return {Code::out_of_memory};
    made = new (memory) Synth;
    made->id = id;
    made->definition = &definition;
    std::byte* behind = static_cast<std::byte*>(memory) + own;
    if (code) {
        made->voice = ensemble_.make(behind, *code, values ? values : program.controls.data(), world_.offset(),
                                     world_.subsample_offset());
        if (!made->voice) {
            pool_.free(memory);
            return {Code::out_of_memory};
        }
    } else {
        made->graph =
            UnitGraph::make(behind, program, definition.kernels, ensemble_.block_for_graph(), world_, *made, values);
    }
    ++definition.users;
    count(+1, 0, int64_t(program.units.size()));
    enter(*made, action, *target_node);
    set(*made, Run::first);
    return {};
}

Status Tree::new_group(int32_t id, AddAction action, int32_t target, Group*& made) noexcept {
    Node* target_node;
    if (const Status status = check_new(id, action, target, target_node); status.failed())
        return status;
    void* memory = pool_.allocate(aligned(sizeof(Group)) + abi_group_bytes());
    if (!memory)
        return {Code::out_of_memory};
    made = new (memory) Group;
    made->id = id;
    made->is_group = true;
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
    unlink(node);
    if (event == EndEvent::without_place)
        notify(node, NodeChange::end);
    index_.remove(node);
    if (node.is_group) {
        count(0, -1, 0);
    } else {
        auto& synth = static_cast<Synth&>(node);
        ages_.put(synth, AgeKind::none);
        if (synth.graph)
            synth.graph->destroy();
        count(-1, 0, -int64_t(synth.definition->program->units.size()));
        if (--synth.definition->users == 0)
            outbox_.hand_back(synth.definition, Handback::Kind::release);
    }
    pool_.free(&node);
}

template <bool in_time>
bool Tree::free_children(Group& group) noexcept {
    // A group that has groups in it gives them up to its own place first: so nesting needs neither a stack nor a way
    // down that an interruption would make us go again.
    while (Node* const node = group.head) {
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

void Tree::free_all(Group& group) noexcept {
    (void)free_children<false>(group);
}

bool Tree::free_all_in_time(Group& group) noexcept {
    return free_children<true>(group);
}

void Tree::free(Node& node) noexcept {
    if (node.is_group)
        free_all(static_cast<Group&>(node));
    if (&node != root_)
        drop(node, EndEvent::with_place);
}

bool Tree::free_in_time(Node& node) noexcept {
    if (node.is_group && !free_children<true>(static_cast<Group&>(node)))
        return false;
    free(node);
    return true;
}

template <bool in_time>
bool Tree::free_synths(Group& group, Node*& at) noexcept {
    if (!at)
        at = following(&group, &group);
    while (at) {
        if (in_time && deadline_.spend(free_cost))
            return false;
        Node* next = following(at, &group);
        if (!at->is_group)
            drop(*at, EndEvent::without_place);
        at = next;
    }
    return true;
}

void Tree::deep_free(Group& group) noexcept {
    Node* at = nullptr;
    (void)free_synths<false>(group, at);
}

bool Tree::deep_free_in_time(Group& group, Node*& at) noexcept {
    return free_synths<true>(group, at);
}

void Tree::end(Node& node) noexcept {
    if (&node != root_)
        set(node, Run::ending);
}

// ---- changing

void Tree::set(Node& node, Run run) noexcept {
    node.run = run;
    if (const Synth* synth = native(node))
        Ensemble::run_changed(*synth);
    if (node.is_group)
        return;
    auto& synth = static_cast<Synth&>(node);
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
        at = static_cast<Group&>(node).head;
    }
    for (; at && room; at = at->next) {
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

namespace {

/// The index of the control `offset` places behind the one of this name, or -1.
int64_t index_of(const Synth& synth, std::string_view name, int64_t offset) noexcept {
    const ControlSlot* slot = synth.definition->program->find_control(name);
    return slot && offset >= 0 && offset < slot->channels ? int64_t(slot->index) + offset : -1;
}

} // namespace

void Tree::set_control(Synth& synth, int64_t index, float value) noexcept {
    if (index < 0 || index >= control_count(synth))
        return;
    if (synth.voice)
        ensemble_.set_control(synth, int(index), value);
    else
        synth.graph->set_control(int(index), value);
}

void Tree::map_control(Synth& synth, int64_t index, int64_t bus, bool audio) noexcept {
    if (index < 0 || index >= control_count(synth) ||
        (bus >= 0 && !(audio ? buses_.audio_in_range(bus) : buses_.control_in_range(bus))))
        return;
    if (synth.voice)
        ensemble_.map_control(synth, int(index), bus < 0 ? 0 : audio ? int32_t(-bus - 1) : int32_t(bus + 1));
    else if (bus < 0)
        synth.graph->unmap(int(index));
    else if (audio)
        synth.graph->map_to_audio_bus(int(index), int(bus));
    else
        synth.graph->map_to_control_bus(int(index), int(bus));
}

void Tree::set_control(Synth& synth, std::string_view name, int64_t offset, float value) noexcept {
    set_control(synth, index_of(synth, name, offset), value);
}

void Tree::map_control(Synth& synth, std::string_view name, int64_t offset, int64_t bus, bool audio) noexcept {
    map_control(synth, index_of(synth, name, offset), bus, audio);
}

// ---- notifying

void Tree::notify(const Node& node, NodeChange change) noexcept {
    if (!notifies_ || (node.id < 0 && change != NodeChange::info))
        return;
    const auto id = [](const Node* n) { return n ? n->id : -1; };
    const Group* group = node.is_group ? static_cast<const Group*>(&node) : nullptr;
    const NodeEvent event{
        {EventKind::node, sizeof(NodeEvent)},
        change,
        node.is_group,
        node.id,
        id(node.parent),
        id(node.previous),
        id(node.next),
        id(group ? group->head : nullptr),
        id(group ? group->tail : nullptr),
    };
    outbox_.notify(event);
}

// ---- rendering

/// false, here and below: the deadline passed before the end.
bool Tree::first_block(Synth& synth, FaultLanding& landing) {
    if (deadline_.spend(synth.definition->cost))
        return false;
    const bool paused = synth.run == Run::first_paused;
    if (synth.voice) {
        ensemble_.start(synth);
    } else if (!synth.graph->construct(deadline_)) {
        free_crashed(synth);
        return true;
    } else if (!synth.graph->constructed()) {
        return false;
    }
    // As in scsynth, a done action in a constructor has no lasting effect on its own synth.
    set(synth, paused ? Run::off : Run::on);
    return paused || (synth.voice ? take_turn(synth) : render(synth, landing));
}

/// `voices`: how many synths were computed in `nsec`.
void Tree::note_cost(Definition& definition, int64_t nsec, int voices) noexcept {
    const auto follow = [](int64_t& mean, int64_t value, bool first) {
        mean = std::max<int64_t>(first ? value : mean + (value - mean) / 4, 1);
    };
    follow(definition.turn_cost, nsec, definition.turn_cost == Deadline::unknown);
    follow(definition.cost, nsec / voices, definition.cost == 0);
    if (definition.turn_cost >= dear_synth)
        definition.turn_cost = Deadline::unknown;
}

bool Tree::take_turn(Synth& synth) noexcept {
    Definition& definition = *synth.definition;
    const int voices = Ensemble::voices_in_turn(synth);
    if (deadline_.spend(definition.turn_cost))
        return false;
    const bool measured = deadline_.just_read();
    turn_.next = ensemble_.take_turn(synth);
    if (measured && voices && !deadline_.passed())
        note_cost(definition, deadline_.measure(), voices);
    return !deadline_.passed();
}

bool Tree::render(Synth& synth, FaultLanding& landing) {
    Definition& definition = *synth.definition;
    turn_.running = &synth;
    if (deadline_.spends_unseen(definition.turn_cost)) {
        synth.graph->render(landing);
        return true;
    }
    if (deadline_.spend(definition.turn_cost))
        return false;
    const bool measured = deadline_.just_read();
    if (definition.turn_cost == Deadline::unknown && deadline_.bounded())
        synth.graph->render(landing, deadline_, definition.cost ? definition.cost : Deadline::unknown);
    else
        synth.graph->render(landing);
    if (measured && !deadline_.passed())
        note_cost(definition, deadline_.measure(), 1);
    return !deadline_.passed();
}

void Tree::free_crashed(Synth& synth) noexcept {
    TextLine line;
    line.add("UGen '%s' of synth %d (%s) %s; the synth is freed\n", synth.graph->crashed_ugen(), synth.id,
             synth.definition->program->name.c_str(), synth.graph->took_too_long() ? "took too long" : "crashed");
    outbox_.print(line.take());
    free(synth);
}

void Tree::look_at_output(const Group& group) noexcept {
    if (!suspects_->any_bad(buses_, ensemble_.block_number()))
        return;
    suspects_ = nullptr;
    TextLine line;
    line.add("group %d puts NaN or infinity on an output bus: the port is silent meanwhile", group.id);
    outbox_.print(line.take());
}

bool Tree::render() noexcept {
    turn_ = {root_->run == Run::on ? root_->head : nullptr, root_, nullptr};
    bool whole = true;
    while (!FaultGuard::run_pieces([&](FaultLanding& landing) { whole = walk(landing); })) {
        turn_.running->graph->crash();
        free_crashed(*turn_.running);
    }
    if (!whole)
        ensemble_.drop_block();
    return whole;
}

/// Renders the nodes from turn_ on. turn_ is kept up to date, as a crash in a synth ends this function.
bool Tree::walk(FaultLanding& landing) {
    while (true) {
        Node* const node = turn_.next;
        if (!node) { // this group is done: continue behind it
            if (suspects_)
                look_at_output(*turn_.group);
            if (turn_.group == root_)
                return !deadline_.passed();
            turn_.next = turn_.group->next;
            turn_.group = turn_.group->parent;
            if (deadline_.spend(visit_cost)) // the way up from a deep nest is long
                return false;
            continue;
        }
        FaultGuard::progress();
        turn_.next = node->next;
        // The next node is mostly of the same kind. Native voices are small.
        if (node->next)
            native(*node) ? fetch_ahead<512>(node->next) : fetch_ahead<1536>(node->next);
        if (Synth* synth = native(*node); synth && (node->run == Run::on || Ensemble::pending(*synth))) {
            if (deadline_.spends_unseen(synth->definition->turn_cost))
                turn_.next = ensemble_.take_turn(*synth);
            else if (!take_turn(*synth))
                return false;
            continue;
        }
        if (deadline_.spend(visit_cost))
            return false;
        switch (node->run) {
        case Run::ending:
            if (!free_in_time(*node))
                return false;
            break;
        case Run::off: break;
        case Run::first:
        case Run::first_paused:
            if (!first_block(static_cast<Synth&>(*node), landing))
                return false;
            break;
        case Run::traced:
            node->run = Run::on;
            if (Synth* synth = native(*node)) {
                ensemble_.take_turn_traced(*synth, *synth->definition->program, outbox_);
            } else if (auto& hosted = static_cast<Synth&>(*node); !hosted.graph->render_traced()) {
                free_crashed(hosted);
            }
            break;
        case Run::on:
            if (node->is_group) {
                turn_.group = static_cast<Group*>(node);
                turn_.next = turn_.group->head;
            } else if (!render(static_cast<Synth&>(*node), landing)) {
                return false;
            }
            break;
        }
    }
}

} // namespace scs

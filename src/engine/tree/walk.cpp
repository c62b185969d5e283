// SPDX-License-Identifier: GPL-3.0-or-later
// The tree's walk, which computes a block.
#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"
#include "engine/voices/ensemble.hpp"
#include "engine/world/output-ports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace scs {
namespace {

constexpr int64_t visit_cost = 100;    // ns, of passing a node that isn't in the cache: an estimate for the deadline
constexpr int64_t dear_synth = 20'000; // ns; above this, the clock is read within a synth, too
constexpr int64_t most_rise = 4;       // how many times the mean a measurement may be without a second one like it

/// Prefetches the first `bytes` of a node, and so of its synth, into the cache while another is computed: with hundreds
/// of synths, none is still there from the last block. Reaching beyond a smaller synth does no harm.
template <size_t bytes>
void fetch_ahead(const Node* node) noexcept {
    const auto* at = reinterpret_cast<const char*>(node);
#pragma GCC unroll 24
    for (size_t i = 0; i < bytes; i += cache_line)
        __builtin_prefetch(at + i);
}

} // namespace

/// false, here and below: the deadline passed before the end.
bool Tree::start(Synth& synth) noexcept {
    starting_ = ensemble_.start(synth) ? nullptr : &synth;
    return !starting_;
}

/// Of what was computed for a start there is nothing left once other voices have had their turns, so it is the first of
/// a block's work.
bool Tree::finish_start() noexcept {
    Synth& synth = *starting_;
    if (synth.run == Run::ending) {
        ensemble_.abandon_start();
        starting_ = nullptr;
        return true;
    }
    if (!start(synth))
        return false;
    set(synth, synth.run == Run::first_paused ? Run::off : Run::on);
    return true;
}

bool Tree::first_block(Synth& synth, FaultLanding& landing) {
    if (deadline_.spend(synth.definition->cost))
        return false;
    const bool paused = synth.run == Run::first_paused;
    if (synth.voice) {
        if (!start(synth))
            return false;
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

/// `voices`: how many synths were computed in `nsec`, in so many turns.
void Tree::note_cost(Definition& definition, int64_t nsec, int turns, int voices) noexcept {
    const auto follow = [](int64_t& mean, int64_t value, bool first) {
        mean = std::max<int64_t>(first ? value : mean + (value - mean) / 4, 1);
    };
    follow(definition.turn_cost, nsec / turns, definition.turn_cost == Deadline::unknown);
    // Where this thread was preempted, one measurement is far too high. So is the next one only if the synth is dear.
    const int64_t each = nsec / voices;
    const bool first = definition.cost == 0;
    const int64_t last = std::exchange(definition.last_cost, each);
    const int64_t most = first ? each : std::max(last, most_rise * definition.cost);
    follow(definition.cost, std::min(each, most), first);
    if (definition.turn_cost >= dear_synth)
        definition.turn_cost = Deadline::unknown;
}

bool Tree::take_turn(Synth& synth) noexcept {
    Definition& definition = *synth.definition;
    const int voices = Ensemble::voices_in_turn(synth);
    if (deadline_.spend(definition.turn_cost))
        return false;
    const bool measured = deadline_.just_read();
    const int64_t began = deadline_.last_reading();
    turn_.next = ensemble_.take_turn(synth);
    if (measured && voices && !deadline_.passed())
        note_cost(definition, deadline_.measure(began), 1, voices);
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
    const int64_t began = deadline_.last_reading();
    if (definition.turn_cost == Deadline::unknown && deadline_.bounded())
        synth.graph->render(landing, deadline_, definition.cost ? definition.cost : Deadline::unknown);
    else
        synth.graph->render(landing);
    if (measured && !deadline_.passed())
        note_cost(definition, deadline_.measure(began), 1, 1);
    return !deadline_.passed();
}

void Tree::free_crashed(Synth& synth) noexcept {
    TextLine line;
    line.add("UGen '%s' of synth %d (%s) %s; the synth is freed", synth.graph->crashed_ugen(), synth.id,
             synth.definition->program->name.c_str(), synth.graph->took_too_long() ? "took too long" : "crashed");
    outbox_.complain(line.take());
    free_first(synth);
}

void Tree::look_at_output(const Group& group) noexcept {
    if (!suspects_->any_bad(buses_, ensemble_.block_number()))
        return;
    suspects_ = nullptr;
    TextLine line;
    line.add("group %d puts NaN or infinity on an output bus: the port is silent meanwhile",
             (group.cluster ? seen_parent(group) : &group)->id);
    outbox_.print(line.take());
}

bool Tree::render() noexcept {
    if (starting_ && !finish_start())
        return false;
    turn_ = {root_->run == Run::on ? root_->head : nullptr, root_, nullptr};
    bool whole = true;
    ensemble_.begin_walk();
    while (!FaultGuard::run_pieces([&](FaultLanding& landing) { whole = walk(landing); })) {
        turn_.running->graph->crash();
        free_crashed(*turn_.running);
    }
    ensemble_.end_walk();
    if (!whole)
        ensemble_.drop_block();
    else
        (void)finish_frees(); // what isn't done in time is done before the next command
    return whole;
}

int Tree::render_blocks(int blocks, const BlockInputs& inputs) noexcept {
    if (starting_ || suspects_ || root_->run != Run::on || !finish_frees())
        return -1;
    if (!list_turns() || (ensemble_.search_is_due() && !(search_partners() && list_turns())))
        return -1;
    const int computed = ensemble_.run_blocks(blocks, inputs);
    if (computed < 0)
        return computed;
    ensemble_.each_cost(
        [this](const auto& cost) { note_cost(*cost.of->definition, cost.nsec, cost.turns, cost.voices); });
    perform_endings(computed);
    return computed;
}

/// false: a walk has to do it, or there is no time.
bool Tree::start_before_block(Synth& synth) noexcept {
    const int64_t cost = synth.definition->cost;
    if (!ensemble_.starts_anywhere(synth) || (deadline_.bounded() && !cost) || deadline_.spend(cost) || !start(synth))
        return false;
    set(synth, Run::on);
    return true;
}

/// Passes the nodes as a walk does, but takes no turns. `visit`: is given each synth, and a node to set to the one
/// behind it; returns false if it has to be a walk. false: it has, or there is no time.
template <class Visit>
bool Tree::visit_synths(Visit&& visit) noexcept {
    const Group* group = root_;
    for (Node* node = root_->head; !deadline_.spend(visit_cost);) {
        if (!node && group == root_)
            return true;
        if (!node) {
            node = group->next;
            group = group->parent;
        } else if (!node->is_group) {
            if (!visit(static_cast<Synth&>(*node), node))
                break;
        } else if (node->run == Run::off) {
            node = node->next;
        } else {
            group = static_cast<Group*>(node);
            if (group->run != Run::on || group->cluster || group->emptying != Emptying::nothing)
                break;
            node = group->head;
        }
    }
    ensemble_.order_changed();
    return false;
}

/// If need be, tells the ensemble whose turns come in the next block. false: it needs a walk, or there is no time.
bool Tree::list_turns() noexcept {
    if (!ensemble_.turns_moved())
        return true;
    ensemble_.begin_list();
    return visit_synths([this](Synth& synth, Node*& next) {
        return (synth.run != Run::first || start_before_block(synth)) && ensemble_.list_turn(synth, next);
    });
}

/// Lets voices find others to be batched with. false, as above.
bool Tree::search_partners() noexcept {
    const AheadList::Version begun = ensemble_.begin_search();
    const bool whole = visit_synths([this](Synth& synth, Node*& next) { return next = ensemble_.search(synth), true; });
    ensemble_.end_search(begun);
    return whole;
}

/// As walks do it: done actions in the order of the turns, and in the next block what has ended is freed, in the order
/// of the nodes. What has ended in the last block is the next walk's to free.
void Tree::perform_endings(int blocks) noexcept {
    const auto endings = ensemble_.endings();
    for (auto begin = endings.begin(); begin != endings.end();) {
        const auto end = std::find_if(begin, endings.end(), [&](const auto& one) { return one.index != begin->index; });
        for (auto one = begin; one != end; ++one) {
            if (one->action != BlockPipeline::Ending::crash) {
                done_action(one->action, *one->synth);
                continue;
            }
            free_crashed(*one->synth);
            for (auto other = begin; other != one; ++other)
                if (other->synth == one->synth)
                    other->action = 0; // there is nothing left to free
        }
        std::sort(begin, end,
                  [](const auto& a, const auto& b) { return std::tie(a.own, a.lane) < std::tie(b.own, b.lane); });
        for (; begin != end; ++begin)
            if (begin->action == 2 && int64_t(begin->index) + 1 < blocks)
                (void)free_in_time(*begin->synth); // if there is no time for it, the next walk does it
    }
}

/// Renders the nodes from turn_ on. turn_ is kept up to date, as a crash in a synth ends this function.
bool Tree::walk(FaultLanding& landing) {
    while (true) {
        Node* const node = turn_.next;
        if (!node) { // this group is done: continue behind it
            if (suspects_) {
                ensemble_.flush();
                look_at_output(*turn_.group);
            }
            if (turn_.group == root_)
                return !deadline_.passed();
            if (Cluster* cluster = as_cluster(turn_.group))
                end_pass(*cluster);
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
        if (!node->is_group || node->run != Run::on)
            ensemble_.flush();
        if (!node->is_group)
            ensemble_.pass(static_cast<Synth&>(*node));
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
                ensemble_.resumed();
                ensemble_.take_turn_traced(*synth, *synth->definition->program, outbox_);
            } else if (auto& hosted = static_cast<Synth&>(*node); !hosted.graph->render_traced()) {
                free_crashed(hosted);
            }
            break;
        case Run::on:
            if (node->is_group && static_cast<Group*>(node)->emptying != Emptying::nothing) {
                break;
            } else if (node->is_group) {
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

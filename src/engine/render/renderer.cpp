// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/render/renderer.hpp"

#include "engine/base/text-line.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"
#include "engine/voices/may-batch.hpp"
#include "engine/world/output-ports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace scs {
namespace {

constexpr int64_t visit_cost = 100; // ns, of passing a node that isn't in the cache: an estimate for the deadline

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

/// Of what was computed for a start there is nothing left once other voices have had their turns, so it is the first of
/// a block's work. false, here and below: the deadline passed before the end.
bool Renderer::finish_start() noexcept {
    Synth& synth = *turns_.starting();
    if (synth.run == Run::ending) {
        turns_.abandon_start();
        return true;
    }
    if (!turns_.go_on_starting())
        return false;
    tree_.runs().set(synth, synth.run == Run::first_paused ? Run::off : Run::on);
    return true;
}

bool Renderer::first_block(Synth& synth, FaultLanding& landing) {
    if (deadline_.spend(synth.facts->costs.synth))
        return false;
    const bool paused = synth.run == Run::first_paused;
    if (synth.voice) {
        if (!turns_.start(synth))
            return false;
    } else if (!synth.graph->construct(deadline_)) {
        tree_.free_crashed(synth);
        return true;
    } else if (!synth.graph->constructed()) {
        return false;
    }
    // As in scsynth, a done action in a constructor has no lasting effect on its own synth.
    tree_.runs().set(synth, paused ? Run::off : Run::on);
    if (paused)
        return true;
    return synth.voice ? start_neighbours(synth) && take_turn(synth) : render(synth, landing);
}

/// What has just started may be the first of some new neighbours of one SynthDef, as of a chord. They start now, too,
/// if that makes no difference, so that already their first block is computed as a batch's.
bool Renderer::start_neighbours(Synth& first) noexcept {
    Synth* last = &first;
    for (int i = 1; i < first.voice->code->batch.lanes && turns_.may_start_before(first, last->next); ++i) {
        auto& next = static_cast<Synth&>(*last->next);
        if (deadline_.spend(next.facts->costs.synth) || !turns_.start(next))
            return false;
        tree_.runs().set(next, Run::on);
        last = &next;
    }
    if (last != &first)
        turns_.join_started(first, *last);
    return true;
}

bool Renderer::take_turn(Synth& synth) noexcept {
    const TurnFacts& facts = *synth.facts;
    const auto kind = synth.voice->batch ? Costs::Kind::batch : Costs::Kind::lone;
    const int voices = Turns::voices_in_turn(synth);
    if (deadline_.spend(facts.costs.turn))
        return false;
    const bool measured = deadline_.just_read();
    const int64_t began = deadline_.last_reading();
    tree_.freeing().walk_place().next = turns_.take(synth);
    if (measured && voices && !deadline_.passed())
        ensemble_.costs().note(facts, kind, {.nsec = deadline_.measure(began), .synths = voices});
    return !deadline_.passed();
}

bool Renderer::render(Synth& synth, FaultLanding& landing) {
    const SynthCosts& costs = synth.facts->costs;
    running_ = &synth;
    if (deadline_.spends_unseen(costs.turn)) {
        synth.graph->render(landing);
        return true;
    }
    if (deadline_.spend(costs.turn))
        return false;
    const bool measured = deadline_.just_read();
    const int64_t began = deadline_.last_reading();
    if (costs.turn == Deadline::unknown && deadline_.bounded())
        synth.graph->render(landing, deadline_, costs.synth ? costs.synth : Deadline::unknown);
    else
        synth.graph->render(landing);
    if (measured && !deadline_.passed())
        ensemble_.costs().note(*synth.facts, Costs::Kind::lone, {.nsec = deadline_.measure(began), .synths = 1});
    return !deadline_.passed();
}

void Renderer::look_at_output(const Group& group) noexcept {
    if (!suspects_->any_bad(buses_, ensemble_.block_number()))
        return;
    suspects_ = nullptr;
    TextLine line;
    line.add("group %d puts NaN or infinity on an output bus: the port is silent meanwhile",
             (group.cluster ? seen_parent(group) : &group)->id);
    outbox_.print(line.take());
}

bool Renderer::render() noexcept {
    if (turns_.starting() && !finish_start())
        return false;
    tree_.freeing().walk_place() = {tree_.root().run == Run::on ? tree_.root().head : nullptr, &tree_.root()};
    if (ahead_) {
        ahead_->begin_walk();
        turns_.begin_walk(nullptr);
    }
    bool whole = true;
    if (ensemble_.helped() && (whole = list_items(Starts::in_walk))) {
        ahead_->open_block(ensemble_.block_number(), ensemble_.list());
        turns_.begin_walk(ahead_);
    }
    while (whole && !FaultGuard::run_pieces([&](FaultLanding& landing) { whole = walk(landing); })) {
        running_->graph->crash();
        tree_.free_crashed(*running_);
    }
    if (ahead_)
        ahead_->close_block();
    if (!whole)
        turns_.drop_block();
    else
        (void)tree_.freeing().finish(); // what isn't done in time is done before the next command
    return whole;
}

int Renderer::render_blocks(int blocks, const BlockInputs& inputs) noexcept {
    if (turns_.starting() || suspects_ || tree_.root().run != Run::on || !tree_.freeing().finish())
        return -1;
    if (!list_items(Starts::before))
        return -1;
    const RenderList& list = ensemble_.list();
    if (ahead_->search_is_due(list) && !(search_partners() && list_items(Starts::before)))
        return -1;
    const int computed = ahead_->run_blocks(ensemble_.block_number(), blocks, inputs, list);
    if (computed < 0)
        return computed;
    perform_endings(computed);
    return computed;
}

/// If a new voice may start before the block, and there is time for it, it does. Returns whether it has come beside one
/// of its kind, then.
bool Renderer::start_before_block(Synth& synth) noexcept {
    const int64_t cost = synth.facts->costs.synth;
    if (!turns_.starts_anywhere(synth) || (deadline_.bounded() && !cost) || deadline_.spend(cost) ||
        !turns_.start(synth))
        return false;
    tree_.runs().set(synth, Run::on);
    return same_code(synth, synth.previous);
}

/// Passes the nodes in a walk's order, but takes no turns. `enters`: whether it goes into a group. `visit`: is given
/// each synth, and sets the node that comes next; returns false to end the visit. Returns false if the deadline has
/// passed.
template <class Enters, class Visit>
bool Renderer::visit_synths(Enters&& enters, Visit&& visit) noexcept {
    const Group* group = &tree_.root();
    Node* node = tree_.root().run == Run::on ? tree_.root().head : nullptr;
    while (!deadline_.spend(visit_cost)) {
        if (!node && group == &tree_.root())
            return true;
        if (!node) {
            node = group->next;
            group = group->parent;
        } else if (!node->is_group) {
            if (!visit(static_cast<Synth&>(*node), node))
                return true;
        } else if (enters(static_cast<Group&>(*node))) {
            group = static_cast<Group*>(node);
            node = group->head;
        } else {
            node = node->next;
        }
    }
    return false;
}

/// Whether the walk goes into the group.
bool Renderer::is_walked(const Group& group) noexcept {
    return group.run == Run::on && group.emptying == Emptying::nothing;
}

/// Unless it is known, tells the ensemble what is computed in the next block. false: there is no time.
bool Renderer::list_items(Starts starts) noexcept {
    RenderList& list = ensemble_.list();
    if (list.current())
        return true;
    list.begin();
    const auto enters = [&](const Group& group) {
        if (group.run == Run::ending) // with all that is in it
            list.end_early();
        if (group.cluster || group.emptying != Emptying::nothing)
            list.need_walk();
        return is_walked(group);
    };
    bool any_beside = false;
    const bool in_time = visit_synths(enters, [&](Synth& synth, Node*& next) {
        if (starts == Starts::before && synth.run == Run::first)
            any_beside = start_before_block(synth) || any_beside;
        next = turns_.list(synth);
        return !list.ended();
    });
    if (in_time)
        list.end();
    return in_time && (!any_beside || (join_neighbours() && list_items(Starts::in_walk)));
}

/// Batches voices with their neighbours, as they would be after their turns. false, here and below: there is no time.
bool Renderer::join_neighbours() noexcept {
    return visit_synths(is_walked, [this](Synth& synth, Node*& next) { return next = turns_.join(synth), true; });
}

/// Lets voices find others to be batched with, also beyond their neighbours.
bool Renderer::search_partners() noexcept {
    return visit_synths(is_walked, [this](Synth& synth, Node*& next) { return next = turns_.search(synth), true; });
}

/// As walks do it: done actions in the order of the turns, and in the next block what has ended is freed, in the order
/// of the nodes. What has ended in the last block is the next walk's to free.
void Renderer::perform_endings(int blocks) noexcept {
    const auto endings = ahead_->pipelined().endings();
    for (auto begin = endings.begin(); begin != endings.end();) {
        const auto end = std::find_if(begin, endings.end(), [&](const auto& one) { return one.index != begin->index; });
        for (auto one = begin; one != end; ++one) {
            if (one->action != BlockPipeline::Ending::crash) {
                tree_.done_action(one->action, *one->synth);
                continue;
            }
            tree_.free_crashed(*one->synth);
            for (auto other = begin; other != one; ++other)
                if (other->synth == one->synth)
                    other->action = 0; // there is nothing left to free
        }
        std::sort(begin, end,
                  [](const auto& a, const auto& b) { return std::tie(a.own, a.lane) < std::tie(b.own, b.lane); });
        for (; begin != end; ++begin)
            if (begin->action == 2 && int64_t(begin->index) + 1 < blocks)
                (void)tree_.freeing().free_in_time(*begin->synth); // if there is no time for it, the next walk does it
    }
}

/// Renders the nodes from the walk's place on, which is kept up to date, as a crash in a synth ends this function.
bool Renderer::walk(FaultLanding& landing) {
    Freeing::WalkPlace& place = tree_.freeing().walk_place();
    while (true) {
        Node* const node = place.next;
        if (!node) { // this group is done: go on after it
            if (suspects_) {
                flush();
                look_at_output(*place.group);
            }
            if (place.group == &tree_.root())
                return !deadline_.passed();
            if (Cluster* cluster = as_cluster(place.group))
                tree_.runs().end_pass(*cluster);
            place.next = place.group->next;
            place.group = place.group->parent;
            if (deadline_.spend(visit_cost)) // the way up from a deep nest is long
                return false;
            continue;
        }
        FaultGuard::progress();
        place.next = node->next;
        // The next node is mostly of the same kind. Native voices are small, and what is paused is passed over.
        if (Synth* synth = native(*node); synth && (node->run == Run::on || Turns::pending(*synth))) {
            if (node->next)
                fetch_ahead<512>(node->next);
            if (deadline_.spends_unseen(synth->facts->costs.turn))
                place.next = turns_.take(*synth);
            else if (!take_turn(*synth))
                return false;
            continue;
        }
        if (node->next && node->run != Run::off)
            fetch_ahead<1536>(node->next);
        if (deadline_.spend(visit_cost))
            return false;
        if (!node->is_group || node->run != Run::on)
            flush();
        switch (node->run) {
        case Run::ending:
            if (!tree_.freeing().free_in_time(*node))
                return false;
            break;
        case Run::off: break;
        case Run::first:
        case Run::first_paused:
            if (!first_block(static_cast<Synth&>(*node), landing))
                return false;
            break;
        case Run::traced:
            tree_.runs().set(*node, Run::on);
            if (Synth* synth = native(*node)) {
                turns_.take_traced(*synth, *synth->definition->program, outbox_);
            } else if (auto& hosted = static_cast<Synth&>(*node); !hosted.graph->render_traced()) {
                tree_.free_crashed(hosted);
            }
            break;
        case Run::on:
            if (node->is_group && static_cast<Group*>(node)->emptying != Emptying::nothing) {
                break;
            } else if (node->is_group) {
                place.group = static_cast<Group*>(node);
                place.next = place.group->head;
            } else if (!render(static_cast<Synth&>(*node), landing)) {
                return false;
            }
            break;
        }
    }
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/node-actions.hpp"

#include "engine/nodes/cluster.hpp"
#include "engine/tree/freeing.hpp"
#include "engine/tree/run-states.hpp"
#include "engine/units/done-action.hpp"

namespace scs {
namespace {

constexpr int ended_at_once = 1000; // neighbours; those beyond are computed once more

/// A satellite depends on its reference alone, so that one is its only neighbour, on the side where it runs. The
/// neighbours of others are no satellites.
Node* neighbour(Synth& synth, bool after) noexcept {
    if (synth.satellite != Satellite::no)
        return after == (synth.satellite == Satellite::preceding) ? reference_of(synth) : nullptr;
    const Node& all = whole(synth);
    Node* const node = after ? all.next : all.previous;
    const Cluster* const cluster = as_cluster(node);
    return cluster ? cluster->reference : node;
}

} // namespace

// A node that ends stays in the tree until the walk reaches it: the walk that is under way may hold pointers to it. The
// contents of a neighbouring group are freed after the block, in pieces if they are many.
void NodeActions::perform(int number, Synth& synth) noexcept {
    const DoneAction* const action = find_done_action(float(number));
    if (!action)
        return;
    Node* const previous = action->previous == NodeEffect::none ? nullptr : neighbour(synth, false);
    Node* const next = action->next == NodeEffect::none ? nullptr : neighbour(synth, true);
    apply(action->synth, synth);
    if (previous)
        apply(action->previous, *previous);
    if (next)
        apply(action->next, *next);
    if (action->group != NodeEffect::none)
        apply(action->group, *seen_parent(synth));
    end_sides(synth, action->previous == NodeEffect::end_side, action->next == NodeEffect::end_side);
}

void NodeActions::apply(NodeEffect effect, Node& node) noexcept {
    switch (effect) {
    case NodeEffect::none:
    case NodeEffect::end_side: return; // end_sides()
    case NodeEffect::pause: runs_.set_run(node, false); return;
    case NodeEffect::resume: runs_.set_run(node, true); return;
    case NodeEffect::end: runs_.end(node); return;
    case NodeEffect::end_children: empty_or_end(node, Emptying::children); return;
    case NodeEffect::end_synths: empty_or_end(node, Emptying::synths); return;
    }
}

void NodeActions::empty_or_end(Node& node, Emptying what) noexcept {
    if (node.is_group)
        freeing_.empty_later(static_cast<Group&>(node), what);
    else
        runs_.end(node);
}

/// Those in front of the synth have had their turns in this block, so that they can wait until it is done.
void NodeActions::end_sides(Synth& synth, bool before, bool after) noexcept {
    if (!before && !after)
        return;
    if (synth.satellite != Satellite::no) {
        for (const bool side : {false, true})
            if (Node* const reference = (side ? after : before) ? neighbour(synth, side) : nullptr)
                runs_.end(*reference);
        return;
    }
    const Node& all = whole(synth);
    Group& group = *all.parent;
    if (before)
        group.ends_back_from = all.previous;
    if (after && !group.ends_on_from) {
        Node* node = all.next;
        for (int i = 0; node && i < ended_at_once; ++i, node = node->next)
            runs_.end(*node);
        group.ends_on_from = node;
    }
    if (group.ends_back_from || group.ends_on_from)
        freeing_.empty_later(group, Emptying::some);
}

} // namespace scs

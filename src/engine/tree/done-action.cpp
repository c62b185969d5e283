// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text-line.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/tree/tree.hpp"
#include "engine/ugens/complaint.hpp"

namespace scs {
namespace {

constexpr int ended_at_once = 1000; // neighbours; those beyond are computed once more

/// A satellite depends on its reference alone, so that one is its only neighbour, on the side where it runs. The
/// neighbours of others are no satellites.
Node* neighbour(Synth& synth, bool behind) noexcept {
    if (synth.satellite != Satellite::no)
        return behind == (synth.satellite == Satellite::preceding) ? reference_of(synth) : nullptr;
    const Node& all = whole(synth);
    Node* const node = behind ? all.next : all.previous;
    const Cluster* const cluster = as_cluster(node);
    return cluster ? cluster->reference : node;
}

} // namespace

// The lines are scsynth's.
void Tree::complain(const Complaint& complaint, const Synth& synth) noexcept {
    TextLine line;
    const Program& program = *synth.definition->program;
    if (complaint.what == Complaint::no_memory && complaint.unit < program.units.size())
        line.add("%s_Ctor: alloc failed, increase server's RT memory (e.g. via ServerOptions)",
                 program.units[complaint.unit].ugen->name.c_str());
    else if (!verbose_)
        return;
    else if (complaint.what == Complaint::no_buffer)
        line.add("Buffer UGen: no buffer data");
    else
        line.add("Buffer UGen channel mismatch: expected %i, yet buffer has %i channels", int(complaint.outputs),
                 int(complaint.found));
    outbox_.complain(line.take());
}

// The numbers and their meanings are SuperCollider's (Done.schelp). A node that ends stays in the tree until the walk
// reaches it: the walk that is under way may hold pointers to it. The contents of a neighbouring group are freed behind
// the block, in pieces if they are many.
void Tree::done_action(int action, Synth& synth) noexcept {
    Node* const previous = neighbour(synth, false);
    Node* const next = neighbour(synth, true);
    const auto end_if = [this](Node* node) {
        if (node)
            end(*node);
    };
    const auto free_contents_or_end = [this](Node* node) {
        if (node && node->is_group)
            empty_later(static_cast<Group&>(*node), Emptying::children);
        else if (node)
            end(*node);
    };
    const auto deep_free_or_end = [this](Node* node) {
        if (node && node->is_group)
            empty_later(static_cast<Group&>(*node), Emptying::synths);
        else if (node)
            end(*node);
    };

    switch (action) {
    case 1: set_run(synth, false); return;
    case 2: end(synth); return;
    case 3:
        end(synth);
        end_if(previous);
        return;
    case 4:
        end(synth);
        end_if(next);
        return;
    case 5:
        end(synth);
        free_contents_or_end(previous);
        return;
    case 6:
        end(synth);
        free_contents_or_end(next);
        return;
    case 7: end_neighbours(synth, true, false); return;
    case 8: end_neighbours(synth, false, true); return;
    case 9:
        end(synth);
        if (previous)
            set_run(*previous, false);
        return;
    case 10:
        end(synth);
        if (next)
            set_run(*next, false);
        return;
    case 11:
        end(synth);
        deep_free_or_end(previous);
        return;
    case 12:
        end(synth);
        deep_free_or_end(next);
        return;
    case 13: end_neighbours(synth, true, true); return;
    case 14: end(*seen_parent(synth)); return;
    case 15:
        end(synth);
        if (next)
            set_run(*next, true);
        return;
    default: return;
    }
}

/// Those in front of the synth have had their turns in this block, so that they can wait until it is done.
void Tree::end_neighbours(Synth& synth, bool front, bool behind) noexcept {
    end(synth);
    if (synth.satellite != Satellite::no) {
        for (const bool side : {false, true})
            if (Node* const reference = (side ? behind : front) ? neighbour(synth, side) : nullptr)
                end(*reference);
        return;
    }
    const Node& all = whole(synth);
    Group& group = *all.parent;
    if (front)
        group.ends_back_from = all.previous;
    if (behind && !group.ends_on_from) {
        Node* node = all.next;
        for (int i = 0; node && i < ended_at_once; ++i, node = node->next)
            end(*node);
        group.ends_on_from = node;
    }
    if (group.ends_back_from || group.ends_on_from)
        empty_later(group, Emptying::some);
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/tree.hpp"

namespace scs {

// The numbers and their meanings are SuperCollider's (Done.schelp). A node that ends stays in the tree until the walk
// reaches it: the walk that is under way may hold pointers to it. The contents of a neighbouring group are freed behind
// the block, in pieces if they are many.
void Tree::done_action(int action, Synth& synth) noexcept {
    Node* const previous = synth.previous;
    Node* const next = synth.next;
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
    case 7:
        for (Node* node = &synth; node; node = node->previous)
            end(*node);
        return;
    case 8:
        for (Node* node = &synth; node; node = node->next)
            end(*node);
        return;
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
    case 13:
        for (Node* node = synth.parent->head; node; node = node->next)
            end(*node);
        return;
    case 14: end(*synth.parent); return;
    case 15:
        end(synth);
        if (next)
            set_run(*next, true);
        return;
    default: return;
    }
}

} // namespace scs

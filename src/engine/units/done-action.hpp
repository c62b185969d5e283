// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace scs {

/// What a done action does to a node, if it is there.
enum class NodeEffect : uint8_t {
    none,
    pause,
    resume,
    end,
    end_children, ///< ends a group's children, or a synth
    end_synths,   ///< ends all synths in a group and in its subgroups, or a synth
    end_side,     ///< of a neighbour: ends all nodes of the group on that side
};

/// What a done action does to the synth that performs it, to the nodes beside that, and to its group.
struct DoneAction {
    NodeEffect synth = NodeEffect::none, previous = NodeEffect::none, next = NodeEffect::none, group = NodeEffect::none;

    constexpr bool acts_on_others() const noexcept {
        return previous != NodeEffect::none || next != NodeEffect::none || group != NodeEffect::none;
    }
    constexpr bool frees_synth() const noexcept { return synth == NodeEffect::end || group == NodeEffect::end; }
};

/// Done actions by their numbers, which are SuperCollider's (Done.schelp).
inline constexpr DoneAction done_actions[] = {
    {},                                                                                         // 0
    {.synth = NodeEffect::pause},                                                               // 1
    {.synth = NodeEffect::end},                                                                 // 2
    {.synth = NodeEffect::end, .previous = NodeEffect::end},                                    // 3
    {.synth = NodeEffect::end, .next = NodeEffect::end},                                        // 4
    {.synth = NodeEffect::end, .previous = NodeEffect::end_children},                           // 5
    {.synth = NodeEffect::end, .next = NodeEffect::end_children},                               // 6
    {.synth = NodeEffect::end, .previous = NodeEffect::end_side},                               // 7
    {.synth = NodeEffect::end, .next = NodeEffect::end_side},                                   // 8
    {.synth = NodeEffect::end, .previous = NodeEffect::pause},                                  // 9
    {.synth = NodeEffect::end, .next = NodeEffect::pause},                                      // 10
    {.synth = NodeEffect::end, .previous = NodeEffect::end_synths},                             // 11
    {.synth = NodeEffect::end, .next = NodeEffect::end_synths},                                 // 12
    {.synth = NodeEffect::end, .previous = NodeEffect::end_side, .next = NodeEffect::end_side}, // 13
    {.group = NodeEffect::end},                                                                 // 14
    {.synth = NodeEffect::end, .next = NodeEffect::resume},                                     // 15
};

static_assert(done_actions[1].synth == NodeEffect::pause && done_actions[2].synth == NodeEffect::end &&
                  std::ranges::all_of(std::span(done_actions).subspan(3), &DoneAction::acts_on_others),
              "of those that concern only their synth, src/engine/parallel/done-actions.hpp performs 1 and 2 alone");

/// [any] The one with that number, which is cut to an integer; null if there is none, or for NaN.
constexpr const DoneAction* find_done_action(float number) noexcept {
    return number > -1.f && number < float(std::size(done_actions)) ? &done_actions[size_t(int(number))] : nullptr;
}

} // namespace scs

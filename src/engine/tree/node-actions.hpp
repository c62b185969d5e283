// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstdint>

namespace scs {

class Freeing;
class RunStates;
enum class Emptying : uint8_t;
enum class NodeEffect : uint8_t;
struct Node;
struct Synth;

/// What UGens ask for when they are done. [rt]
class NodeActions {
public:
    NodeActions(RunStates& runs, Freeing& freeing) noexcept : runs_(runs), freeing_(freeing) {}

    /// Performs the one with that number; see done_actions. Without one does nothing.
    void perform(int number, Synth&) noexcept SCS_NONBLOCKING;

private:
    void apply(NodeEffect, Node&) noexcept SCS_NONBLOCKING;
    void empty_or_end(Node&, Emptying) noexcept SCS_NONBLOCKING;
    void end_sides(Synth&, bool before, bool after) noexcept SCS_NONBLOCKING;

    RunStates& runs_;
    Freeing& freeing_;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace scs {

struct Definition;
struct Group;
class UnitGraph;
struct Voice;

/// How a node's turn in a block is spent.
enum class Run : uint8_t {
    first,        ///< a synth before its first block: constructors, then a block
    first_paused, ///< the same, but to be paused: constructors only
    on,
    traced, ///< on, and the next block prints what it does; a synth
    off,
    ending, ///< freed when its turn comes
};

/// What a control of a synth is mapped to.
enum class Mapping : uint8_t { none, control, audio };

/// A node of the tree. Owned and only changed by Tree, on the data loop.
struct Node {
    int32_t id = 0;
    bool is_group = false;
    Run run = Run::on;
    Node* previous = nullptr;
    Node* next = nullptr;
    Group* parent = nullptr;
    Node* same_hash = nullptr;
    void* abi = nullptr; ///< what UGen plugins know this node as
};

struct Group : Node {
    Node* head = nullptr;
    Node* tail = nullptr;
    uint32_t entered = 0; ///< nodes that came into it, for batches of voices in it
};

/// Made of plugin units or of native ones.
struct Synth : Node {
    Definition* definition = nullptr;
    UnitGraph* graph = nullptr; ///< null: a native one
    Voice* voice = nullptr;     ///< null: one of plugin units
};

} // namespace scs

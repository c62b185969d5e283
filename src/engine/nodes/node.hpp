// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace scs {

struct Definition;
struct Group;
struct TurnFacts;
class UnitGraph;
struct Voice;

/// What the walk does when it reaches a node.
enum class Run : uint8_t {
    first,        ///< a synth before its first block: run constructors, then a block
    first_paused, ///< the same, but it is to be paused: run constructors only
    on,
    traced, ///< a synth that is on and prints what it does in the next block
    off,
    ending, ///< free it
};

/// Where a batch, a lone voice or a synth of plugins' units stands among what is computed in a block. [rt]
struct ItemPlace {
    int32_t listed = -1;  ///< its place when the RenderList was last made with it
    int32_t planned = -1; ///< its number among those that are computed ahead, until its turn; -1: none
};

/// What a control of a synth is mapped to.
enum class Mapping : uint8_t { none, control, audio };

/// The lists of synths by age; see Ages.
enum class AgeKind : uint8_t {
    none,
    ends_itself, ///< runs, and a done action of its own frees it one day
    stays,       ///< runs until somebody frees it
    paused,      ///< paused by the server, for want of time
};

/// Whether a synth is a satellite of another node, and where it stands then; see Cluster.
enum class Satellite : uint8_t { no, preceding, succeeding };

/// A node of the tree. Owned and only changed by Tree, on the data loop.
struct Node {
    int32_t id = 0;
    bool is_group = false;
    Run run = Run::on;
    AgeKind aged = AgeKind::none; ///< of a synth: the list that it is in
    Satellite satellite = Satellite::no;
    Node* previous = nullptr;
    Node* next = nullptr;
    Group* parent = nullptr;
    Node* same_hash = nullptr;
};

/// What done actions free of a group as soon as the block is done; none of its children or synths is computed until
/// then.
enum class Emptying : uint8_t {
    nothing,
    some, ///< what ends_back_from and ends_on_from say
    synths,
    children,
};

struct Group : Node {
    Emptying emptying = Emptying::nothing;
    bool parallel = false; ///< made by /p_new: its children need no order
    bool cluster = false;  ///< it is a Cluster
    Group* next_emptying = nullptr;
    Group* previous_emptying = nullptr;
    Node* ends_back_from = nullptr; ///< it and all in front of it are to be ended; null: none
    Node* ends_on_from = nullptr;   ///< it and all after it
    Node* head = nullptr;
    Node* tail = nullptr;
    uint32_t entered = 0; ///< how many nodes have come into it so far; batches of voices in it watch this
    int32_t children = 0; ///< those that clients see: a cluster counts as what is in it
    void* abi = nullptr;  ///< this group as UGen plugins see it; of synths the UnitGraph has it
};

/// A walk through a node and all below it in depth-first order, in steps of a small cost. [rt]
struct NodeWalk {
    Node* node = nullptr; ///< where it is; the top at first, null at the end
    bool behind = false;  ///< it has come back to a group from what is in it

    /// Returns the change of the depth, to which clusters don't count.
    int step(const Node& top) noexcept {
        if (Node* head = !behind && node->is_group ? static_cast<Group*>(node)->head : nullptr) {
            const int deeper = static_cast<Group*>(node)->cluster ? 0 : 1;
            node = head;
            return deeper;
        }
        // A client may have named a place outside of the top: then the root is the end.
        if (node == &top || !node->parent) {
            node = nullptr;
            return 0;
        }
        behind = !node->next;
        node = behind ? node->parent : node->next;
        return behind && !static_cast<Group*>(node)->cluster ? -1 : 0;
    }
};

/// Made of plugin units or of native ones.
struct Synth : Node {
    Definition* definition = nullptr;
    UnitGraph* graph = nullptr;       ///< null: a synth of native units
    Voice* voice = nullptr;           ///< null: a synth with plugin units
    const TurnFacts* facts = nullptr; ///< of its SynthDef
    ItemPlace ahead;                  ///< unless it is in a batch
    Synth* older = nullptr;           ///< in its list of Ages
    Synth* newer = nullptr;
};

/// This node as a synth of native UGens; null if it is none.
inline Synth* native(Node& node) noexcept {
    Synth* synth = node.is_group ? nullptr : &static_cast<Synth&>(node);
    return synth && synth->voice ? synth : nullptr;
}

} // namespace scs

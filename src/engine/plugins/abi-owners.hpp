// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/abi/plugin-api.hpp"

namespace scs {

struct LastingWorld;
struct Node;
class PluginWorld;
struct Space;
struct Synth;

/// The ABI's objects, each followed by a pointer to ours. The world outlives ours, as threads of plugins may know it:
/// then it has no owner.
struct AbiWorld {
    ::World abi;
    PluginWorld* owner;
    LastingWorld* lasting; ///< what it is part of, or a copy of
    uint64_t api;          ///< the PluginApi of the plugins that see it
    uint64_t of_synth;     ///< not 0: a copy for one synth, whose units use it in the engine's place
};
struct AbiNode {
    ::Node abi;
    Node* owner;
};
struct AbiGraph {
    ::Graph abi;
    std::byte unused[sizeof(GraphOf315) - sizeof(::Graph)]; ///< what follows has one place in both kinds of graphs
    Synth* owner;
    Space* space;  ///< what its native units are called with; of the thread that computes it
    ::Graph* main; ///< the synth's AbiGraph::abi
};
/// The same synth's graph as PluginApi::v6 has it.
struct AbiGraphOf315 {
    GraphOf315 abi;
    Synth* owner;
    Space* space;
    ::Graph* main;
};
static_assert(offsetof(AbiGraph, owner) == offsetof(AbiGraphOf315, owner));
static_assert(offsetof(AbiGraph, space) == offsetof(AbiGraphOf315, space));
static_assert(offsetof(AbiGraph, main) == offsetof(AbiGraphOf315, main));

/// A unit's graph, whatever its plugin sees of it. Only for units of a synth.
inline ::Graph& graph_of(const ::Unit& unit) noexcept {
    return *reinterpret_cast<const AbiGraph*>(unit.mParent)->main;
}

inline PluginWorld& owner_of(::World* world) noexcept {
    return *reinterpret_cast<AbiWorld*>(world)->owner;
}

/// Our node for one that plugins were given, synth or group; null: it is gone. [rt]
Node* owner_of(::Node* node) noexcept;

} // namespace scs

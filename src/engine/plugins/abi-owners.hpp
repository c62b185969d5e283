// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

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
};
struct AbiNode {
    ::Node abi;
    Node* owner;
};
struct AbiGraph {
    ::Graph abi;
    Synth* owner;
    Space* space; ///< what its native units are called with; of the thread that computes it
};

inline PluginWorld& owner_of(::World* world) noexcept {
    return *reinterpret_cast<AbiWorld*>(world)->owner;
}

/// Our node for one that plugins were given, synth or group; null: it is gone. [rt]
Node* owner_of(::Node* node) noexcept;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

namespace scs {

struct Node;
class PluginWorld;
struct Synth;

/// The ABI's objects with the way back to ours behind them.
struct AbiWorld {
    ::World abi;
    PluginWorld* owner;
};
struct AbiNode {
    ::Node abi;
    Node* owner;
};
struct AbiGraph {
    ::Graph abi;
    Synth* owner;
};

inline PluginWorld& owner_of(::World* world) noexcept {
    return *reinterpret_cast<AbiWorld*>(world)->owner;
}

/// Any node that we gave out, synth or group.
Node& owner_of(::Node* node) noexcept;

} // namespace scs

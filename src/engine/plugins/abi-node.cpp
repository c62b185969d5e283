// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/abi-node.hpp"

#include "engine/nodes/node.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/unit-graph.hpp"

#include <new>

namespace scs {

size_t abi_group_bytes() noexcept {
    return sizeof(AbiNode);
}

void* make_abi_group(void* memory, PluginWorld& world, Group& owner) noexcept {
    auto* node = new (memory) AbiNode{};
    node->abi.mID = owner.id;
    node->abi.mWorld = &world.abi().world.abi;
    node->abi.mIsGroup = true;
    node->owner = &owner;
    return &node->abi;
}

void* abi_of(const Node& node) noexcept {
    if (node.is_group)
        return static_cast<const Group&>(node).abi;
    UnitGraph* const graph = static_cast<const Synth&>(node).graph;
    return graph ? graph->node() : nullptr;
}

Node& owner_of(::Node* node) noexcept {
    if (node->mIsGroup)
        return *reinterpret_cast<AbiNode*>(node)->owner;
    return *reinterpret_cast<AbiGraph*>(node)->owner;
}

} // namespace scs

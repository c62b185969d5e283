// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/abi-node.hpp"

#include "engine/nodes/node.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/unit-graph.hpp"

#include <functional>
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

void* abi_node_of(PluginWorld& world, const Node& node) noexcept {
    if (node.is_group)
        return static_cast<const Group&>(node).abi;
    if (UnitGraph* const graph = static_cast<const Synth&>(node).graph)
        return graph->node();
    auto& stand_ins = world.abi().stand_ins;
    ::Graph& graph = stand_ins[uint32_t(node.id) % stand_ins.size()].abi;
    graph = {};
    graph.mNode.mID = node.id;
    graph.mNode.mWorld = &world.abi().world.abi;
    graph.mNode.mCalcFunc = [](::Node*) {};
    graph.mLocalSndBufs = &world.abi().no_buffer;
    return &graph.mNode;
}

Node* owner_of(::Node* node) noexcept {
    if (PluginWorld* world = rendering_world()) {
        const auto& stand_ins = world->abi().stand_ins;
        if (!std::less<>()(node, &stand_ins.front().abi.mNode) && !std::less<>()(&stand_ins.back().abi.mNode, node))
            return world->host().find_node(node->mID);
    }
    if (node->mIsGroup)
        return reinterpret_cast<AbiNode*>(node)->owner;
    return reinterpret_cast<AbiGraph*>(node)->owner;
}

} // namespace scs

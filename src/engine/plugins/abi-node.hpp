// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace scs {

struct Group;
struct Node;
class PluginWorld;

/// A group as plugins see it: how many bytes that takes, and how it is made. [rt]
size_t abi_group_bytes() noexcept;
void* make_abi_group(void* memory, PluginWorld&, Group& owner) noexcept;
/// A node as plugins see it, when they ask for it by its ID. A synth of native units has a stand-in, without units and
/// controls: all that leads back from it to the synth is its ID, so a plugin may keep it as long as it likes. There are
/// 64 of them, and which one it is depends on the ID. [rt]
void* abi_node_of(PluginWorld&, const Node&) noexcept;

} // namespace scs

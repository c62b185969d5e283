// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

struct Group;
struct Node;
class PluginWorld;

/// A group as plugins see it: how many bytes that takes, and how it is made. [rt]
size_t abi_group_bytes() noexcept SCS_NONBLOCKING;
void* make_abi_group(void* memory, PluginWorld&, Group& owner) noexcept SCS_NONBLOCKING;
/// A node as plugins see it, when they ask for it by its ID. A synth of native units has a stand-in, without units and
/// controls: all that leads back from it to the synth is its ID, so a plugin may keep it as long as it likes. It stays
/// that node's until a plugin asks for another ID that is the same modulo 64. [rt]
void* abi_node_of(PluginWorld&, const Node&) noexcept;

} // namespace scs

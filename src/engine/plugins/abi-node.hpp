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
/// A node as plugins see it; null for a synth of native units. [rt]
void* abi_of(const Node&) noexcept;

} // namespace scs

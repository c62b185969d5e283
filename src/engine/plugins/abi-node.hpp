// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace scs {

struct Group;
class PluginWorld;

/// A group as plugins see it: how many bytes that takes, and how it is made. [rt]
size_t abi_group_bytes() noexcept;
void* make_abi_group(void* memory, PluginWorld&, Group& owner) noexcept;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scs::osc {

// What the kernel writes in /proc of a process. Pure functions over text that may be cut off anywhere, or be anything.
// [any but rt]

/// The number of the first mount in `mountinfo` that is on the root folder: no two mounts of a machine have the same,
/// those of other mount namespaces included. Nothing if there is none; a line without its end doesn't count.
std::optional<uint64_t> root_mount(std::string_view mountinfo);

struct ProcessStatus {
    int parent = 0;                        ///< 0: none, or not to be seen
    uint32_t user = 0, effective_user = 0; ///< numbers of users
};

/// Of `status`.
std::optional<ProcessStatus> parse_status(std::string_view status);

/// Whether AppArmor's label, in `attr/current`, is that of a snap that is confined. Classic ones aren't.
bool is_confined_snap(std::string_view label);

/// The path in `cgroup` of the group that the process has in the second version's hierarchy.
std::optional<std::string_view> unified_group(std::string_view cgroup);

/// The folder on which the second version's hierarchy is mounted as a whole, by `mountinfo`.
std::optional<std::string> unified_groups_folder(std::string_view mountinfo);

/// The number of a socket, if a link in `fd` leads to one.
std::optional<uint64_t> socket_inode(std::string_view link);

} // namespace scs::osc

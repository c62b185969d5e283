// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace scs::osc {

/// A socket, as NETLINK_SOCK_DIAG tells of it.
struct SocketId {
    uint64_t inode = 0;
    uint64_t cookie = 0; ///< no socket ever has that of another one
    uint64_t group = 0;  ///< the control group in which it was made: the inode of its folder; 0: the kernel doesn't say
    bool operator==(const SocketId&) const = default;
};

struct Holders {
    bool obeyed = false; ///< none of them is in a sandbox
    std::string why;     ///< if not: "which process 123 (name) holds: it is in …"
};

/// Which processes hold these sockets, in this order, as far as they let us look, and whether one of them is in a
/// sandbox (UserSession). All are looked at, the youngest first; where each of the user's runs only if that leaves
/// something open. `stopped` is asked between them; if it says so the answer is empty. Throws std::system_error or
/// std::bad_alloc if it can't be found out now. It takes some ms, more where processes have many descriptors. [any but
/// rt]
///
/// A socket of which no holder is seen may be that of a program that doesn't let others look at its descriptors. It is
/// obeyed only if the control group in which it was made says that it is: such a program of the user is in it, and
/// nothing that is in a sandbox. Without control groups: if none of the user's processes is in a sandbox. A socket that
/// was made in the group of a sandbox, and handed out of it, is refused as the sandbox's own.
std::vector<Holders> find_holders(const std::string& proc, uid_t user, std::span<const SocketId> sockets,
                                  const std::function<bool()>& stopped = {});

/// Whether this process finds a socket of its own, and itself in no sandbox, so that find_holders() can work. Else why
/// not.
std::string why_not_found(const std::string& proc, uint64_t own_inode);

} // namespace scs::osc

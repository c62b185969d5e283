// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace scs::osc {

/// Where programs of a user run that are in no sandbox: in the mount and user namespaces of this process, of the
/// processes of the same user that it descends from (the user's service manager, as a rule; it isn't in the namespaces
/// that a unit gives the daemon), or of process 1. Only files of /proc are read that everybody may read, so that it can
/// be said of programs that keep others from looking into them, too. Nothing is read by way of a process's own folders,
/// which may be on a file system that doesn't answer. [any but rt]
class UserSession {
public:
    struct Place {
        enum class Kind {
            inside,
            outside,
            gone, ///< it has ended
        };
        Kind kind;
        const char* why = ""; ///< outside: "is in another mount namespace than …"; of static storage
    };

    /// `proc`: where /proc is.
    UserSession(const std::string& proc, uid_t user);

    /// Of the process whose folder in /proc this is a descriptor of. Outside if it can't be found out.
    Place place_of(int process) const;

private:
    using Namespaces = std::pair<uint64_t, std::string>; ///< the root's mount, and how users are numbered

    void add(int process);

    std::vector<Namespaces> known_;
    bool is_flatpak_ = false; ///< this process itself
};

/// All of a file of the process whose folder `process` is, at most 1 MiB, or as much as is `enough`. Nothing if it
/// can't be read, with errno.
std::optional<std::string> read_proc_file(int process, const char* name,
                                          const std::function<bool(std::string_view)>& enough = {});

} // namespace scs::osc

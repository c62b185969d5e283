// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/socket-holders.hpp"

#include "engine/base/descriptors.hpp"
#include "engine/base/printable.hpp"
#include "osc/proc-texts.hpp"
#include "osc/user-session.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace scs::osc {

namespace {

using Place = UserSession::Place;
using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bool is_gone(int error) {
    return error == ENOENT || error == ESRCH;
}

/// The entries of a folder that are numbers.
template <class Each>
void for_numbers(DIR* folder, Each&& each) {
    while (const dirent* entry = ::readdir(folder)) {
        int number = 0;
        const std::string_view name = entry->d_name;
        if (std::from_chars(name.data(), name.data() + name.size(), number).ptr == name.data() + name.size())
            each(number, entry->d_name);
    }
}

/// All processes, the youngest first as long as their numbers have not begun again: a program that ends as soon as it
/// has sent something may still be there.
std::vector<int> processes(const std::string& proc) {
    const Folder folder(::opendir(proc.c_str()), ::closedir);
    if (!folder)
        give_up("/proc");
    std::vector<int> result;
    for_numbers(folder.get(), [&](int number, const char*) { result.push_back(number); });
    std::ranges::sort(result, std::greater());
    return result;
}

/// What is seen of a process, or of a thread of one whose first thread has ended.
struct Seen {
    int number = 0;  ///< the process's
    int folder = -1; ///< in /proc
    Place place{Place::Kind::gone};
    uint64_t group = 0;

    std::string text() const {
        auto name = read_proc_file(folder, "comm");
        if (name && name->ends_with('\n'))
            name->pop_back();
        return "process " + std::to_string(number) + " (" + printable(name.value_or("?")) + ")";
    }
    std::string objection() const { return text() + ", which " + place.why; }
};

/// What is seen of a process's descriptors.
struct Descriptors {
    bool shown = true;        ///< it lets us look
    bool any = false;         ///< it has some
    std::vector<size_t> held; ///< of the sockets, by their places
};

/// What comes together while one process after the other is looked at.
class Search {
public:
    Search(const std::string& proc, uid_t user, std::span<const SocketId> sockets)
        : proc_(proc), user_(user), session_(proc, user), sockets_(sockets), found_(sockets.size()) {
        for (size_t i = 0; i < sockets.size(); ++i)
            by_inode_.emplace_back(sockets[i].inode, i);
        std::ranges::sort(by_inode_);
        if (const auto mounts = all_mounts())
            groups_folder_ = unified_groups_folder(*mounts);
        known_groups_ = groups_folder_ && group_of(folder_of("self").get()) != 0;
    }

    /// Which of the sockets a process holds, and if it does, where it is. It may be another user's: a container of this
    /// one has some.
    void look_at(int number) {
        for_folders(number, [&](int folder) {
            const Descriptors descriptors = descriptors_of(folder);
            if (!descriptors.shown || (descriptors.any && descriptors.held.empty()))
                return true;
            const Place place = session_.place_of(folder);
            if (place.kind == Place::Kind::gone)
                return false;
            note_holder({number, folder, place, group_of(folder)}, descriptors.held);
            return true;
        });
    }

    /// Whether that leaves something to be found out from where all processes are.
    bool is_unsettled() const {
        for (size_t i = 0; i < sockets_.size(); ++i)
            if (found_[i].objection.empty() && !(found_[i].held && is_of_a_holder(sockets_[i].group, found_[i])))
                return true;
        return false;
    }

    /// Where a process of the user is, whatever it holds.
    void look_around(int number) {
        for_folders(number, [&](int folder) {
            if (!is_users(folder))
                return true;
            const Seen seen{number, folder, session_.place_of(folder), group_of(folder)};
            if (seen.place.kind == Place::Kind::gone)
                return false;
            note_group(seen, descriptors_of(folder).shown);
            return true;
        });
    }

    std::vector<Holders> answers() const {
        std::vector<Holders> result;
        for (size_t i = 0; i < sockets_.size(); ++i)
            result.push_back(answer(sockets_[i].group, found_[i]));
        return result;
    }

private:
    struct Found {
        bool held = false;
        std::string objection; ///< to one of the holders
        std::vector<uint64_t> groups;
    };
    struct Group {
        uint64_t id;
        bool inside = false, outside = false, hidden = false; ///< what is in it; hidden: inside, too
    };

    Descriptor folder_of(const std::string& process) const {
        return Descriptor(::open((proc_ + "/" + process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    std::optional<std::string> all_mounts() const { return read_proc_file(folder_of("self").get(), "mountinfo"); }

    /// The folders of processes that keep others from looking into them are root's.
    bool is_users(int folder) const {
        struct stat status;
        if (::fstat(folder, &status) != 0)
            return false;
        if (status.st_uid == user_)
            return true;
        if (status.st_uid != 0)
            return false;
        const auto text = read_proc_file(folder, "status");
        const auto parsed = text ? parse_status(*text) : std::nullopt;
        return parsed && (parsed->user == user_ || parsed->effective_user == user_);
    }

    uint64_t group_of(int folder) const {
        const auto text = groups_folder_ ? read_proc_file(folder, "cgroup") : std::nullopt;
        const auto path = text ? unified_group(*text) : std::nullopt;
        struct stat status;
        return path && ::stat((*groups_folder_ + std::string(*path)).c_str(), &status) == 0 ? status.st_ino : 0;
    }

    /// Calls `look` with the folder of a process. `look` returns false if the process has ended: its first thread may
    /// have, and others go on, so it is called with the folders of these.
    template <class Look>
    void for_folders(int number, Look&& look) const {
        const Descriptor process = folder_of(std::to_string(number));
        if (process.get() < 0) {
            if (is_gone(errno))
                return;
            give_up("/proc");
        }
        if (look(process.get()))
            return;
        const Folder threads = open_folder(process.get(), "task");
        if (!threads)
            return;
        for_numbers(threads.get(), [&](int, const char* name) {
            const Descriptor thread(::openat(::dirfd(threads.get()), name, O_PATH | O_DIRECTORY | O_CLOEXEC));
            if (thread.get() >= 0)
                (void)look(thread.get());
        });
    }

    /// Null, with errno, if it isn't there or not to be seen.
    static Folder open_folder(int parent, const char* name) {
        const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && (errno == EACCES || errno == EPERM || is_gone(errno)))
            return {nullptr, ::closedir};
        if (fd < 0)
            give_up("/proc");
        Folder folder(::fdopendir(fd), ::closedir);
        if (!folder) {
            ::close(fd);
            give_up("/proc");
        }
        return folder;
    }

    Descriptors descriptors_of(int process) const {
        Descriptors result;
        const Folder folder = open_folder(process, "fd");
        if (!folder) {
            result.shown = is_gone(errno);
            return result;
        }
        for_numbers(folder.get(), [&](int, const char* name) {
            result.any = true;
            char link[64];
            const ssize_t size = ::readlinkat(::dirfd(folder.get()), name, link, sizeof link);
            const auto inode = socket_inode({link, size_t(std::max<ssize_t>(size, 0))});
            if (!inode)
                return;
            for (auto it = std::ranges::lower_bound(by_inode_, std::pair(*inode, size_t(0)));
                 it != by_inode_.end() && it->first == *inode; ++it)
                result.held.push_back(it->second);
        });
        return result;
    }

    void note_holder(const Seen& seen, std::span<const size_t> held) {
        for (const size_t i : held) {
            found_[i].held = true;
            found_[i].groups.push_back(seen.group);
            if (seen.place.kind == Place::Kind::outside && found_[i].objection.empty())
                found_[i].objection = seen.objection();
        }
    }

    void note_group(const Seen& seen, bool shown) {
        auto it = std::ranges::find(groups_, seen.group, &Group::id);
        if (it == groups_.end())
            it = groups_.insert(it, Group{seen.group});
        if (seen.place.kind == Place::Kind::inside) {
            it->inside = true;
            it->hidden = it->hidden || !shown;
        } else {
            it->outside = true;
            if (outsider_.empty())
                outsider_ = seen.objection();
        }
    }

    Holders answer(uint64_t group, const Found& found) const {
        if (!found.objection.empty())
            return {false, found.objection};
        return found.held ? answer_for_held(group, found) : answer_for_unseen(group);
    }

    bool is_of_a_holder(uint64_t group, const Found& found) const {
        return !known_groups_ || group == 0 || std::ranges::find(found.groups, group) != found.groups.end();
    }

    /// A sandbox may have made the socket, handed it to a program outside, and closed its own descriptor.
    Holders answer_for_held(uint64_t group, const Found& found) const {
        if (is_of_a_holder(group, found))
            return {true, {}};
        const auto it = std::ranges::find(groups_, group, &Group::id);
        if (it != groups_.end() && it->inside && !it->outside)
            return {true, {}};
        return {false, "a program that has the socket from another one, which isn't outside of sandboxes, or not there "
                       "any more"};
    }

    Holders answer_for_unseen(uint64_t group) const {
        if (known_groups_ && group != 0) {
            const auto it = std::ranges::find(groups_, group, &Group::id);
            if (it != groups_.end() && it->hidden && !it->outside)
                return {true, {}};
        } else if (outsider_.empty() && std::ranges::any_of(groups_, &Group::hidden)) {
            return {true, {}};
        }
        std::string why = "a program that isn't seen to hold the socket";
        if (!outsider_.empty())
            why += "; it may be " + outsider_;
        return {false, why};
    }

    const std::string& proc_;
    const uid_t user_;
    const UserSession session_;
    const std::span<const SocketId> sockets_;
    std::vector<std::pair<uint64_t, size_t>> by_inode_; ///< and the socket's place
    std::vector<Found> found_;
    std::optional<std::string> groups_folder_;
    bool known_groups_ = false;
    std::vector<Group> groups_;
    std::string outsider_; ///< the first process that is outside of the session
};

} // namespace

std::vector<Holders> find_holders(const std::string& proc, uid_t user, std::span<const SocketId> sockets,
                                  const std::function<bool()>& stopped) {
    Search search(proc, user, sockets);
    const std::vector<int> all = processes(proc);
    const auto each = [&](auto look) {
        return std::ranges::none_of(all, [&](int process) {
            if (stopped && stopped())
                return true;
            (search.*look)(process);
            return false;
        });
    };
    const bool whole = each(&Search::look_at) && (!search.is_unsettled() || each(&Search::look_around));
    return whole ? search.answers() : std::vector<Holders>();
}

std::string why_not_found(const std::string& proc, uint64_t own_inode) {
    const SocketId own{own_inode, 0, 0};
    Search search(proc, ::geteuid(), std::span(&own, 1));
    search.look_at(::getpid());
    search.look_around(::getpid());
    const Holders holders = search.answers()[0];
    return holders.obeyed ? "" : holders.why;
}

} // namespace scs::osc

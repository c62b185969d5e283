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

/// What is seen of a process.
struct Seen {
    int number = 0;
    int folder = -1; ///< its folder in /proc
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

/// What comes together while one process after the other is looked at.
class Search {
public:
    Search(const std::string& proc, uid_t user, std::span<const SocketId> sockets)
        : proc_(proc), user_(user), session_(proc, user), sockets_(sockets), found_(sockets.size()) {
        if (const auto mounts = all_mounts())
            groups_folder_ = unified_groups_folder(*mounts);
        known_groups_ = groups_folder_ && group_of(folder_of("self").get()) != 0;
    }

    void look_at(int number) {
        const Descriptor folder = folder_of(std::to_string(number));
        if (folder.get() < 0) {
            if (is_gone(errno))
                return;
            give_up("/proc");
        }
        if (!is_users(folder.get()))
            return;
        Seen seen{number, folder.get(), session_.place_of(folder.get()), group_of(folder.get())};
        if (seen.place.kind == Place::Kind::gone)
            return;
        note_group(seen, look_at_descriptors(seen));
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

    /// False: the process doesn't let us.
    bool look_at_descriptors(const Seen& seen) {
        const int fd = ::openat(seen.folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && (errno == EACCES || errno == EPERM))
            return false;
        if (fd < 0 && is_gone(errno))
            return true;
        if (fd < 0)
            give_up("/proc");
        const Folder folder(::fdopendir(fd), ::closedir);
        if (!folder) {
            ::close(fd);
            give_up("/proc");
        }
        for_numbers(folder.get(), [&](int, const char* name) {
            char link[64];
            const ssize_t size = ::readlinkat(fd, name, link, sizeof link);
            if (const auto inode = socket_inode({link, size_t(std::max<ssize_t>(size, 0))}))
                note_holder(*inode, seen);
        });
        return true;
    }

    void note_holder(uint64_t inode, const Seen& seen) {
        for (size_t i = 0; i < sockets_.size(); ++i) {
            if (sockets_[i].inode != inode)
                continue;
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

    /// A sandbox may have made the socket, handed it to a program outside, and closed its own descriptor.
    Holders answer_for_held(uint64_t group, const Found& found) const {
        if (!known_groups_ || group == 0 || std::ranges::find(found.groups, group) != found.groups.end())
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
    for (const int process : processes(proc)) {
        if (stopped && stopped())
            return {};
        search.look_at(process);
    }
    return search.answers();
}

std::string why_not_found(const std::string& proc, uint64_t own_inode) {
    const SocketId own{own_inode, 0, 0};
    Search search(proc, ::geteuid(), std::span(&own, 1));
    search.look_at(::getpid());
    const Holders holders = search.answers()[0];
    return holders.obeyed ? "" : holders.why;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/user-session.hpp"

#include "engine/base/descriptors.hpp"
#include "osc/proc-texts.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace scs::osc {

namespace {

constexpr int most_ancestors = 64;
constexpr size_t most_text = size_t(1) << 20; // of the mounts, where the root folder's may be the last

bool says_gone(int error) {
    return error == ENOENT || error == ESRCH || error == EINVAL; // the last one: it is a zombie
}

Descriptor folder_of(const std::string& proc, const std::string& process) {
    return Descriptor(::open((proc + "/" + process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::optional<std::string> read_mounts(int process) {
    return read_proc_file(process, "mountinfo", [](std::string_view text) { return root_mount(text).has_value(); });
}

bool is_flatpak(int process) {
    return ::faccessat(process, "root/.flatpak-info", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

} // namespace

std::optional<std::string> read_proc_file(int process, const char* name,
                                          const std::function<bool(std::string_view)>& enough) {
    const Descriptor file(::openat(process, name, O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        return {};
    std::string text;
    while (text.size() < most_text && !(enough && enough(text))) {
        const size_t before = text.size();
        text.resize(before + 4096);
        const ssize_t count = ::read(file.get(), text.data() + before, 4096);
        text.resize(before + size_t(std::max<ssize_t>(count, 0)));
        if (count < 0 && errno != EINTR)
            return {};
        if (count == 0)
            break;
    }
    return text;
}

UserSession::UserSession(const std::string& proc, uid_t user) {
    const Descriptor own = folder_of(proc, "self");
    is_flatpak_ = is_flatpak(own.get());
    add(own.get());
    auto status = read_proc_file(own.get(), "status");
    for (int ancestors = 0; status && ancestors < most_ancestors; ++ancestors) {
        const auto parsed = parse_status(*status);
        if (!parsed || parsed->parent == 0)
            break;
        const Descriptor parent = folder_of(proc, std::to_string(parsed->parent));
        status = read_proc_file(parent.get(), "status");
        const auto parents = status ? parse_status(*status) : std::nullopt;
        if (!parents || parents->user != user || parents->effective_user != user)
            break;
        add(parent.get());
    }
    add(folder_of(proc, "1").get());
}

void UserSession::add(int process) {
    const auto mounts = read_mounts(process);
    auto users = read_proc_file(process, "uid_map");
    const auto root = mounts ? root_mount(*mounts) : std::nullopt;
    if (root && users && !users->empty())
        known_.emplace_back(*root, std::move(*users));
}

UserSession::Place UserSession::place_of(int process) const {
    using Kind = Place::Kind;
    const auto mounts = read_mounts(process);
    if (!mounts)
        return says_gone(errno) ? Place{Kind::gone} : Place{Kind::outside, "doesn't show its mount namespace"};
    const auto users = read_proc_file(process, "uid_map");
    if (!users)
        return says_gone(errno) ? Place{Kind::gone} : Place{Kind::outside, "doesn't show its user namespace"};
    const auto root = root_mount(*mounts);
    const auto is_root = [&](const Namespaces& each) { return root && each.first == *root; };
    if (std::ranges::none_of(known_, is_root))
        return {Kind::outside, "is in another mount namespace than the user's session"};
    if (std::ranges::none_of(known_, [&](const Namespaces& each) { return is_root(each) && each.second == *users; }))
        return {Kind::outside, "is in another user namespace than the user's session"};
    if (const auto label = read_proc_file(process, "attr/current"); label && is_confined_snap(*label))
        return {Kind::outside, "is a confined snap"};
    if (!is_flatpak_ && is_flatpak(process))
        return {Kind::outside, "is a Flatpak"};
    return {Kind::inside};
}

} // namespace scs::osc

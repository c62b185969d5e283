// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/proc-texts.hpp"

#include "engine/base/take-until.hpp"

#include <array>
#include <charconv>

namespace scs::osc {

namespace {

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
    Number result{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result, base);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return result;
}

/// What follows this name in the line that begins with it.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        if (line.starts_with(name)) {
            line.remove_prefix(name.size());
            return line;
        }
    }
    return {};
}

/// A path of `mountinfo`, in which blanks and the like are \ooo.
std::string unescaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto code = text[0] == '\\' && text.size() >= 4 ? number<uint8_t>(text.substr(1, 3), 8) : std::nullopt;
        result += code ? char(*code) : text[0];
        text.remove_prefix(code ? 4 : 1);
    }
    return result;
}

} // namespace

std::optional<uint64_t> root_mount(std::string_view mountinfo) {
    while (mountinfo.find('\n') != mountinfo.npos) {
        std::string_view line = take_until(mountinfo, '\n');
        const auto mount = number<uint64_t>(take_until(line, ' '));
        for (int skipped = 0; skipped < 3; ++skipped) // its parent, device, and which of its folders it is
            take_until(line, ' ');
        if (mount && take_until(line, ' ') == "/")
            return mount;
    }
    return {};
}

std::optional<ProcessStatus> parse_status(std::string_view status) {
    const auto parent = field(status, "PPid:\t");
    auto users = field(status, "Uid:\t");
    if (!parent || !users)
        return {};
    const auto number_of_parent = number<int>(*parent);
    const auto user = number<uint32_t>(take_until(*users, '\t'));
    const auto effective = number<uint32_t>(take_until(*users, '\t'));
    if (!number_of_parent || !user || !effective)
        return {};
    return ProcessStatus{*number_of_parent, *user, *effective};
}

bool is_confined_snap(std::string_view label) {
    while (label.ends_with('\n') || label.ends_with('\0'))
        label.remove_suffix(1);
    return label.starts_with("snap.") && label.ends_with(" (enforce)");
}

std::optional<std::string_view> unified_group(std::string_view cgroup) {
    const auto path = field(cgroup, "0::");
    return path && path->starts_with('/') ? path : std::nullopt;
}

std::optional<std::string> unified_groups_folder(std::string_view mountinfo) {
    while (!mountinfo.empty()) {
        std::string_view line = take_until(mountinfo, '\n');
        std::array<std::string_view, 5> fields;
        for (std::string_view& each : fields)
            each = take_until(line, ' ');
        const size_t type = line.find(" - ");
        if (fields[3] == "/" && type != line.npos && line.substr(type + 3).starts_with("cgroup2 "))
            return unescaped(fields[4]);
    }
    return {};
}

std::optional<uint64_t> socket_inode(std::string_view link) {
    constexpr std::string_view head = "socket:[";
    if (!link.starts_with(head) || !link.ends_with(']'))
        return {};
    link.remove_prefix(head.size());
    link.remove_suffix(1);
    return number<uint64_t>(link);
}

} // namespace scs::osc

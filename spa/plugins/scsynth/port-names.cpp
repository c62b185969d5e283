// SPDX-License-Identifier: GPL-3.0-or-later
#include "port-names.hpp"

#include <algorithm>
#include <set>

namespace scs::spa {
namespace {

constexpr size_t longest = 100; ///< bytes; JACK has room for 255
constexpr std::string_view blank = " \t\n\r";

std::string trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(blank);
    return first == text.npos ? "" : std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::vector<std::string> split_at_semicolons(std::string_view text) {
    std::vector<std::string> names;
    for (size_t from = 0; from <= text.size();) {
        const size_t end = std::min(text.find(';', from), text.size());
        names.push_back(trimmed(text.substr(from, end - from)));
        from = end + 1;
    }
    if (names.back().empty())
        names.pop_back();
    return names;
}

/// Of the inside of a SPA-JSON list.
std::vector<std::string> split_list(std::string_view text) {
    constexpr std::string_view separators = " \t\n\r,";
    std::vector<std::string> names;
    for (size_t from = text.find_first_not_of(separators); from != text.npos;) {
        const bool quoted = text[from] == '"';
        from += quoted;
        const size_t end = std::min(quoted ? text.find('"', from) : text.find_first_of(separators, from), text.size());
        names.push_back(trimmed(text.substr(from, end - from)));
        from = text.find_first_not_of(separators, end + quoted);
    }
    return names;
}

std::vector<std::string> split(std::string_view text) {
    const size_t open = text.find_first_not_of(blank), close = text.find_last_not_of(blank);
    if (open != text.npos && text[open] == '[' && text[close] == ']')
        return split_list(text.substr(open + 1, close - open - 1));
    return split_at_semicolons(text);
}

/// PipeWire's tools and JACK have a colon between a node's name and its port's.
bool can_be_a_name(std::string_view name) {
    return name.size() <= longest && std::none_of(name.begin(), name.end(), [](char c) {
               return c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
}

/// Whether scripts expect another port by that name.
bool is_numbered(std::string_view name) {
    for (const std::string_view prefix : {"out_", "in_", "control_", "control_out_"})
        if (name.size() > prefix.size() && name.starts_with(prefix) &&
            name.find_first_not_of("0123456789", prefix.size()) == name.npos)
            return true;
    return false;
}

} // namespace

Result<std::vector<std::string>> read_port_names(std::string_view text, size_t count) {
    const std::vector<std::string> given = split(text);
    std::set<std::string> taken;
    for (size_t i = 0; i < given.size(); ++i) {
        const bool own = given[i] == "out_" + std::to_string(i + 1);
        if (!given[i].empty() &&
            (!can_be_a_name(given[i]) || (is_numbered(given[i]) && !own) || !taken.insert(given[i]).second))
            return Error{given[i]};
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i)
        names.push_back(i < given.size() && !given[i].empty() ? given[i] : "out_" + std::to_string(i + 1));
    return names;
}

size_t count_port_names(std::string_view text) {
    return split(text).size();
}

std::string port_name_choices() {
    return "names with semicolons between, of at most " + std::to_string(longest) +
           " bytes, without colons, each once, and no other port's such as in_1";
}

} // namespace scs::spa

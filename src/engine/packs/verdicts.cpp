// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/verdicts.hpp"

#include "engine/base/take-until.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace scs {
namespace {

// Another version of this program, whose checks are others, has another first line.
constexpr std::string_view first_line = "pw-scsynth: what UGen plugin files did when they were tried, 1";
constexpr size_t most_verdicts = 100'000;
constexpr char escape = '%';

/// Without tabs and ends of lines. Never empty.
std::string escaped(std::string_view text) {
    std::string made;
    for (const char c : text)
        if (uint8_t(c) < 0x20 || c == escape) {
            constexpr char digits[] = "0123456789abcdef";
            made.append({escape, digits[uint8_t(c) >> 4], digits[uint8_t(c) & 15]});
        } else {
            made += c;
        }
    return made.empty() ? std::string(1, escape) : made;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string made;
    if (text == std::string_view(&escape, 1))
        return made;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != escape) {
            made += text[at];
            continue;
        }
        uint8_t byte = 0;
        const std::string_view digits = text.substr(at + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
            return {};
        made += char(byte);
        at += 2;
    }
    return made.empty() ? std::nullopt : std::optional(std::move(made));
}

template <class Number>
bool take_number(std::string_view& rest, Number& number) {
    const std::string_view text = take_until(rest, '\t');
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool is_file_name(std::string_view name) {
    return name.find('/') == name.npos && name.find('\0') == name.npos && !name.starts_with('.');
}

std::optional<std::pair<std::string, Verdict>> parse_line(std::string_view line) {
    Verdict verdict;
    FileIdentity& file = verdict.identity;
    if (!take_number(line, file.device) || !take_number(line, file.inode) || !take_number(line, file.bytes) ||
        !take_number(line, file.modified) || !take_number(line, file.changed))
        return {};
    auto problem = unescaped(take_until(line, '\t')), copy = unescaped(take_until(line, '\t')), path = unescaped(line);
    if (!problem || !copy || !path || !path->starts_with('/') || !is_file_name(*copy))
        return {};
    verdict.problem = std::move(*problem);
    verdict.copy = std::move(*copy);
    return std::pair(std::move(*path), std::move(verdict));
}

} // namespace

Verdicts Verdicts::parse(std::string_view text) {
    Verdicts parsed;
    if (take_until(text, '\n') != first_line)
        return parsed;
    while (!text.empty() && parsed.verdicts_.size() < most_verdicts)
        if (auto verdict = parse_line(take_until(text, '\n')))
            parsed.verdicts_.insert_or_assign(std::move(verdict->first), std::move(verdict->second));
    return parsed;
}

std::string Verdicts::text() const {
    std::string made = std::string(first_line) + '\n';
    for (const auto& [path, verdict] : verdicts_) {
        const FileIdentity& file = verdict.identity;
        for (const uint64_t number : {file.device, file.inode, file.bytes})
            made += std::to_string(number) + '\t';
        for (const int64_t time : {file.modified, file.changed})
            made += std::to_string(time) + '\t';
        made += escaped(verdict.problem) + '\t' + escaped(verdict.copy) + '\t' + escaped(path) + '\n';
    }
    return made;
}

const Verdict* Verdicts::find(const PluginFile& file) const {
    const auto found = verdicts_.find(file.path);
    return found == verdicts_.end() || found->second.identity != file.identity ? nullptr : &found->second;
}

void Verdicts::set(const std::string& path, Verdict verdict) {
    verdicts_.insert_or_assign(path, std::move(verdict));
}

} // namespace scs

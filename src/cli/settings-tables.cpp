// SPDX-License-Identifier: GPL-3.0-or-later
// usage: settings-tables [--write] FILE ...
//
// Between two lines of a file that contain "settings: NAME" and "settings: end" stands a text made of the tables of
// settings. Says which files have another text there and exits with 1; with --write it puts the right text in.
#include "cli/setting-text.hpp"

#include <cctype>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

using scs::Setting;
using scs::cli::program_has_default;
using scs::cli::Whose;
using scs::spa::BoundSetting;

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// The help as a sentence, and the further ones.
std::string sentences(const Setting& setting) {
    std::string text = std::string(setting.help) + ".";
    text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    return *setting.more ? text + " " + setting.more : text;
}

bool is_switch(const BoundSetting& bound) {
    return std::holds_alternative<bool*>(bound.field);
}

// ---- the table of docs/settings.md

std::string table_row(const Setting& setting, const std::string& value, const std::string& range) {
    const std::string option = setting.letter ? std::string("`-") + setting.letter + "`" : "";
    return "| `scsynth." + std::string(setting.key) + "` | " + value + " | " + range + " | " + option + " | " +
           replaced(sentences(setting), "|", "\\|") + " |\n";
}

std::string table() {
    std::string text = "| key | default | values | option | |\n|---|---|---|---|---|\n";
    scs::spa::NodeSettings defaults;
    for (const BoundSetting& each : all_settings(defaults)) {
        const Setting& setting = *each.setting;
        std::string value = default_text(each, Whose::node);
        if (const auto& other = setting.scsynth_default)
            value += is_switch(each) ? *other ? " (true)" : " (false)" : " (" + std::to_string(*other) + ")";
        text += table_row(setting, value, is_switch(each) ? "true, false" : range_text(setting));
    }
    for (const Setting& setting : scs::spa::shown_settings)
        text += table_row(setting, setting.unset, range_text(setting));
    return text;
}

// ---- the man page

/// Each sentence on its own line, `code` in bold.
std::string manual_text(std::string text) {
    text = replaced(replaced(std::move(text), "\\", "\\e"), ". ", ".\n");
    for (bool open = true;; open = !open) {
        const auto tick = text.find('`');
        if (tick == text.npos)
            return text;
        text.replace(tick, 1, open ? "\\fB" : "\\fR");
    }
}

/// "(1024; 1 to 65536, rounded up to a power of two)" is put after the first sentence's words.
std::string manual_item(const Setting& setting, std::string facts, const std::string& range) {
    if (!range.empty())
        facts += (facts.empty() ? "" : "; ") + (*setting.choices ? "one of " + range : range);
    if (setting.option == Setting::Option::power_of_two)
        facts += ", rounded up to a power of two";
    std::string text = sentences(setting);
    if (!facts.empty())
        text.insert(std::string_view(setting.help).size(), " (" + facts + ")");
    return manual_text(text) + "\n";
}

std::string manual_item(const BoundSetting& bound) {
    const Setting& setting = *bound.setting;
    return manual_item(setting, program_has_default(setting) ? default_text(bound, Whose::program) : "",
                       range_text(setting));
}

std::string lower(std::string text) {
    for (char& letter : text)
        letter = char(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

std::string manual_options() {
    std::string text;
    scs::spa::NodeSettings defaults;
    for (const BoundSetting& each : all_settings(defaults))
        if (const char letter = each.setting->letter)
            text += std::string(".It Fl ") + letter + " Ar " + lower(each.setting->value) + "\n" + manual_item(each);
    return text;
}

std::string manual_others() {
    std::string text;
    scs::spa::NodeSettings defaults;
    for (const BoundSetting& each : all_settings(defaults))
        if (!each.setting->letter)
            text += ".It Li " + std::string(each.setting->key) + "\n" + manual_item(each);
    for (const Setting& setting : scs::spa::shown_settings)
        text += ".It Li " + std::string(setting.key) + "\n" + manual_item(setting, setting.unset, range_text(setting));
    return text;
}

// ---- files

const std::map<std::string, std::function<std::string()>, std::less<>> texts = {
    {"table", table},
    {"options", manual_options},
    {"without a letter", manual_others},
};

/// Reads what stands between the marks anew. Returns whether there were any, and all were right.
bool refresh(std::istream& in, std::string& out) {
    constexpr std::string_view mark = "settings: ";
    bool found = false, inside = false;
    for (std::string line; std::getline(in, line);) {
        const auto at = line.find(mark);
        const std::string name = at == line.npos ? "" : line.substr(at + mark.size());
        const bool end = name.starts_with("end");
        if (inside && !end)
            continue;
        out += line + "\n";
        inside = false;
        for (const auto& [known, make] : texts)
            if (!end && name.starts_with(known)) {
                out += make();
                found = inside = true;
            }
    }
    return found && !inside;
}

std::string read_all(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether the file is as it should be, at the end.
bool treat(const char* path, bool write) {
    const std::string before = read_all(path);
    std::istringstream in(before);
    std::string after;
    if (!refresh(in, after)) {
        std::printf("%s: expected a line \"settings: …\" and one \"settings: end\" below it\n", path);
        return false;
    }
    if (after == before)
        return true;
    if (write)
        return bool(std::ofstream(path) << after);
    std::printf("%s differs from the tables of settings; settings-tables --write puts them in\n", path);
    return false;
}

} // namespace

int main(int argc, char** argv) {
    const bool write = argc > 1 && std::string_view(argv[1]) == "--write";
    bool well = argc > 1 + write;
    for (int i = 1 + write; i < argc; ++i)
        well = treat(argv[i], write) && well;
    return well ? 0 : 1;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/text.hpp"

#include "engine/base/printable.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

namespace scs::status {

namespace {

// Without Extent::all
constexpr size_t most_lines = 24;   // of a list
constexpr size_t most_nodes = 48;   // of the tree
constexpr size_t most_synths = 8;   // of a group
constexpr size_t deepest = 12;      // groups further down are indented no more
constexpr size_t longest_name = 40; // of what columns are aligned to

[[gnu::format(printf, 1, 2)]] std::string format(const char* form, ...) {
    char text[256];
    va_list args;
    va_start(args, form);
    std::vsnprintf(text, sizeof text, form, args);
    va_end(args);
    return text;
}

std::string to_words(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        return printable(*text);
    if (const auto* whole = std::get_if<int32_t>(&value))
        return std::to_string(*whole);
    return format("%g",
                  std::holds_alternative<float>(value) ? double(std::get<float>(value)) : std::get<double>(value));
}

std::string counted(size_t count, const char* one, const char* several) {
    return std::to_string(count) + " " + (count == 1 ? one : several);
}

class Page {
public:
    Page(const Contents& contents, const Surroundings& around, const Extent& extent)
        : contents_(contents), around_(around), extent_(extent) {}

    std::string write(const std::string& server) {
        add_server(server);
        add_nodes();
        add_synthdefs();
        add_list("Buffers", contents_.buffers, [](const Buffer& buffer) {
            return format("%6d  %d x %d, %g Hz%s", buffer.number, buffer.frames, buffer.channels, buffer.rate,
                          buffer.streams ? ", a file is open" : "");
        });
        add_list("Bindings", contents_.bindings, [this](const Binding& binding) {
            std::string line = format("%6d ", binding.id);
            append_words(line, binding.words.size(),
                         [&](size_t i) { return std::string(1, ' ').append(to_words(binding.words[i])); });
            return line;
        });
        if (around_.known)
            add_list("Devices", around_.devices, [](const Surroundings::Device& device) {
                return std::string(device.is_sink ? "  sink    " : "  source  ") + printable(device.description) +
                       (device.channels.empty() ? "" : " (" + printable(device.channels) + ")");
            });
        return std::move(text_);
    }

private:
    // ---- what the server says of itself

    const Value* figure(const char* name) const {
        const auto found = contents_.figures.find(name);
        return found == contents_.figures.end() ? nullptr : &found->second;
    }
    std::string words(const char* name) const {
        const Value* const found = figure(name);
        return found ? to_words(*found) : "?";
    }
    double number(const char* name) const {
        const Value* const found = figure(name);
        if (!found || std::holds_alternative<std::string>(*found))
            return 0;
        return std::visit(
            [](const auto& value) -> double {
                if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                    return double(value);
                return 0;
            },
            *found);
    }

    void add_line(const std::string& line) {
        text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; // without what only aligns
    }
    void add_fact(const char* name, const std::string& fact) { add_line(format("  %-9s", name) + fact); }

    void add_server(const std::string& server) {
        add_line(words("program") + " " + words("version") + " at " + server + ", units as in SuperCollider " +
                 words("supercollider"));
        if (around_.known)
            add_fact("node", printable(around_.node));
        add_fact("driver", driver());
        add_fact("engine", words("rate") + " Hz, blocks of " + words("block") + " frames, " +
                               counted(size_t(number("threads")), "thread", "threads") + ", " + words("inputs") +
                               " in, " + words("outputs") + " out");
        add_fact("load", format("%.1f %%, peak %.1f %%", number("load"), number("peak")) +
                             (number("limit") > 0 ? ", limit " + words("limit") + " %" : ""));
        add_fact("memory", words("memory-free") + " of " + words("memory") + " KiB free");
        add_overload();
        if (!contents_.whole)
            add_fact("tree", "nodes come and go so fast that some are missing here");
    }
    std::string driver() const {
        const std::string clock = words("driver");
        if (number("quantum") <= 0)
            return "none yet: nothing has driven it";
        const std::string name = around_.driver.empty() ? clock : printable(around_.driver);
        const double rate = number("graph-rate");
        return (name.empty() ? "unnamed" : name) + (name != clock && !clock.empty() ? " (" + clock + ")" : "") + ", " +
               words("graph-rate") + " Hz, quantum " + words("quantum") +
               (rate > 0 ? format(" (%.1f ms)", number("quantum") / rate * 1e3) : "");
    }
    void add_overload() {
        std::string fact;
        for (const auto& [name, what] : {std::pair{"paused", "synths paused now"},
                                         {"ended", "synths ended"},
                                         {"cuts", "cycles cut"},
                                         {"late", "bundles late"}})
            if (number(name) > 0)
                fact += (fact.empty() ? "" : ", ") + words(name) + " " + what;
        if (!fact.empty())
            add_fact("overload", fact);
    }

    // ---- lists

    void add_heading(const std::string& heading) { add_line("\n" + heading); }
    void add_rest(size_t count, const std::string& indent) {
        add_line(indent + "... " + std::to_string(count) + " more lines, --all shows them");
    }

    template <class T, class Line>
    void add_list(const char* heading, const std::vector<T>& items, Line line) {
        if (items.empty())
            return;
        add_heading(std::string(heading) + ": " + std::to_string(items.size()));
        // A line in place of one item isn't shorter.
        const size_t shown = extent_.all || items.size() <= most_lines + 1 ? items.size() : most_lines;
        for (size_t i = 0; i < shown; ++i)
            add_line(line(items[i]));
        if (shown < items.size())
            add_rest(items.size() - shown, "  ");
    }

    /// Appends as many words as fit into the line.
    template <class Word>
    void append_words(std::string& line, size_t count, Word word) const {
        for (size_t i = 0; i < count; ++i) {
            const std::string next = word(i);
            const size_t room = i + 1 < count ? 4 : 0; // for the dots
            if (!extent_.all && line.size() + next.size() + room > extent_.width) {
                line += " ...";
                return;
            }
            line += next;
        }
    }
    /// The same with controls; those without a name belong to the one before.
    void append_controls(std::string& line, const std::vector<Control>& controls) const {
        append_words(line, controls.size(), [&](size_t i) {
            return (controls[i].name.empty() ? " " : "  " + printable(controls[i].name) + " ") +
                   to_words(controls[i].value);
        });
    }

    void add_synthdefs() {
        size_t width = 0;
        for (const SynthDef& each : contents_.synthdefs)
            width = std::max(width, std::min(printable(each.name).size(), longest_name));
        add_list("SynthDefs", contents_.synthdefs, [&](const SynthDef& each) {
            std::string line = "  " + printable(each.name);
            line.resize(std::max(line.size(), width + 2), ' ');
            append_controls(line, each.controls);
            return line;
        });
    }

    // ---- the tree

    /// How deep each node is. Parents come before what is in them; one that is not there has moved.
    std::vector<size_t> depths() const {
        std::unordered_map<int32_t, size_t> of_groups;
        std::vector<size_t> all;
        for (const Node& node : contents_.nodes) {
            const auto parent = of_groups.find(node.parent);
            all.push_back(parent == of_groups.end() ? size_t(node.id != 0) : parent->second + 1);
            if (node.is_group)
                of_groups[node.id] = all.back();
        }
        return all;
    }

    /// "  1000 default (paused)"
    static std::string head_of(const Node& node, size_t depth) {
        std::string head(2 * std::min(depth, deepest) + 2, ' ');
        head += std::to_string(node.id) + " ";
        head += node.is_group ? node.parallel ? "parallel group" : "group" : printable(node.synthdef);
        return head + (node.runs ? "" : " (paused)");
    }

    /// A line of the tree: a node, or in place of it and of others of its group how many these are.
    struct Line {
        size_t node;
        size_t left_out;
    };

    std::vector<Line> lines_of_tree() const {
        std::unordered_map<int32_t, size_t> totals, seen;
        for (const Node& node : contents_.nodes)
            totals[node.parent] += !node.is_group;
        std::vector<Line> lines;
        for (size_t i = 0; i < contents_.nodes.size(); ++i) {
            const Node& node = contents_.nodes[i];
            const size_t total = totals[node.parent], before = node.is_group ? 0 : seen[node.parent]++;
            if (extent_.all || before < most_synths || total == most_synths + 1)
                lines.push_back({i, 0});
            else if (before == most_synths)
                lines.push_back({i, total - before});
        }
        return lines;
    }

    std::string line_of(const Line& line, size_t depth, size_t width) const {
        const Node& node = contents_.nodes[line.node];
        if (line.left_out > 0)
            return std::string(2 * std::min(depth, deepest) + 2, ' ') + "... " + std::to_string(line.left_out) +
                   " more synths";
        std::string text = head_of(node, depth);
        if (!node.is_group)
            text.resize(std::max(text.size(), width), ' ');
        append_controls(text, node.controls);
        return text;
    }

    void add_nodes() {
        const auto groups = size_t(std::ranges::count_if(contents_.nodes, &Node::is_group));
        const size_t synths = contents_.nodes.size() - groups;
        add_heading("Nodes: " + counted(groups, "group", "groups") + ", " + counted(synths, "synth", "synths"));
        const std::vector<size_t> all_depths = depths();
        std::vector<Line> lines = lines_of_tree();
        const size_t left_out = extent_.all || lines.size() <= most_nodes + 1 ? 0 : lines.size() - most_nodes;
        lines.resize(lines.size() - left_out);
        size_t width = 0;
        for (const auto& [node, hides] : lines)
            if (!contents_.nodes[node].is_group)
                width =
                    std::max(width, std::min(head_of(contents_.nodes[node], all_depths[node]).size(), longest_name));
        for (const Line& line : lines)
            add_line(line_of(line, all_depths[line.node], width));
        if (left_out > 0)
            add_rest(left_out, "  ");
    }

    const Contents& contents_;
    const Surroundings& around_;
    const Extent extent_;
    std::string text_;
};

} // namespace

std::string to_text(const Contents& contents, const Surroundings& around, const std::string& server,
                    const Extent& extent) {
    return Page(contents, around, extent).write(server);
}

} // namespace scs::status

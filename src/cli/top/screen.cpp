// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/screen.hpp"

#include "cli/top/screen-text.hpp"
#include "engine/base/printable.hpp"

#include <algorithm>

namespace scs::top {

namespace {

using Style = ScreenLine::Style;

constexpr const char* columns_line = "   COST %  RUNNING   PAUSED  BATCHES  GROUP";
constexpr int head_lines = 5, foot_lines = 1;
constexpr int most_indent = 20; // levels: deeper ones stand below each other

constexpr const char* help_lines[] = {
    "COST %   what a block of the running synths takes, of the time that it sounds,",
    "         with all that is in the group. A SynthDef is measured now and then, as",
    "         it plays. The sum lacks the server's own work, and what threads save.",
    "    ~    native voices: a mean over batches of any size; a lone one costs more",
    "    +    and more: some SynthDefs aren't measured yet;   ?  none is",
    "RUNNING  synths that are computed.  PAUSED: not, or in a paused group",
    "BATCHES  groups of native voices that are computed side by side",
    "load     of the cycles' time, on average and (peak) at most, for about a second",
    "worst    what the longest block of the last minute took, of the time it sounds",
    "cuts     cycles with missing blocks; ended and paused: synths, for want of time",
    "",
    "c v n    sort by cost, voices or ID             s        the next of these",
    "/        show what has a text; Enter keeps it, Esc shows everything",
    "- +      fold and unfold the deepest groups     p space  hold the picture",
    "arrows, page up and down, home, end: scroll     q        quit   h ?  this text",
};

std::string cost_text(const Model& model, const Sums& sums) {
    if (sums.unmeasured && sums.unmeasured == sums.running)
        return "?";
    std::string text = sums.estimated ? "~" : "";
    text += percent(model.percent(sums.nsec));
    return sums.unmeasured ? text + "+" : text;
}

std::string def_text(const DefLine& def) {
    const int64_t all = def.sums.running + def.sums.paused;
    std::string text = printable(def.name);
    if (all > 1)
        text += " ×" + std::to_string(all);
    if (def.sums.paused)
        text += " (" + (def.sums.running ? std::to_string(def.sums.paused) + " " : "") + "paused)";
    return text;
}

std::string row_text(const Model& model, const Row& row) {
    const GroupLine& group = model.groups[row.group];
    std::string text = right(cost_text(model, group.all), 9);
    for (const int64_t count : {group.all.running, group.all.paused, group.all.batches})
        text += right(std::to_string(count), 9);
    text += std::string(2 + 2 * size_t(std::min(group.depth, most_indent)), ' ') + std::to_string(group.id);
    if (!group.runs)
        text += " paused";
    if (row.folded)
        text += " and " + std::to_string(row.folded) + (row.folded == 1 ? " group" : " groups");
    const char* before = "  ";
    for (const DefLine& def : row.defs) {
        text += before + def_text(def);
        before = ", ";
    }
    return text;
}

std::vector<ScreenLine> head(const Scene& scene, const View& view) {
    std::string first = "pw-scsynth top  " + printable(scene.server);
    if (!scene.model)
        return {{first, Style::strong}};
    const ServerFigures& server = scene.model->server;
    first += "  " + std::to_string(server.block_frames) + " frames a block, " + number("%.0f", server.rate) + " Hz, " +
             std::to_string(server.threads) + (server.threads == 1 ? " thread" : " threads");
    const std::string worst =
        server.longest_block ? percent(scene.model->percent(server.longest_block)) + " %" : "unknown";
    std::string loads = "load " + percent(server.load) + " %  peak " + percent(server.peak) + " %  limit " +
                        (server.limit > 0 ? number("%g", server.limit) + " %" : "none") +
                        "  worst block of the last minute " + worst;
    std::string counts = "synths " + std::to_string(server.synths) + "  groups " + std::to_string(server.groups) +
                         "  cuts " + std::to_string(server.cuts) + "  ended " + std::to_string(server.ended) +
                         "  paused " + std::to_string(server.paused);
    if (!view.filter.empty())
        counts += "  with \"" + printable(view.filter) + "\"";
    if (!scene.model->whole)
        counts += "  nodes come and go too fast: some are missing";
    return {{first, Style::strong}, {loads, Style::plain}, {counts, Style::plain}};
}

ScreenLine foot(const Scene& scene, const View& view) {
    if (view.typing)
        return {"show what has: " + printable(view.filter) + "_", Style::reverse};
    if (!scene.trouble.empty())
        return {printable(scene.trouble), Style::reverse};
    if (view.held)
        return {"the picture is held; p: go on", Style::reverse};
    return {"q quit  h help  p pause  c v n sort by cost, voices, ID  / filter  - + depth", Style::plain};
}

} // namespace

int tree_rows(Size size) {
    return std::max(size.rows - head_lines - foot_lines, 0);
}

int first_row(int wanted, int rows, Size size) {
    return std::clamp(wanted, 0, std::max(rows - tree_rows(size), 0));
}

std::vector<ScreenLine> draw(const Scene& scene, const View& view, Size size) {
    std::vector<ScreenLine> lines = head(scene, view);
    lines.emplace_back();
    if (view.help) {
        for (const char* line : help_lines)
            lines.push_back({line, Style::plain});
    } else if (scene.model) {
        lines.push_back({columns_line, Style::reverse});
        const std::vector<Row> rows = make_rows(*scene.model, view);
        const auto first = size_t(first_row(view.first_row, int(rows.size()), size));
        for (size_t i = first; i < rows.size() && int(i - first) < tree_rows(size); ++i)
            lines.push_back({row_text(*scene.model, rows[i]), Style::plain});
    }
    lines.resize(size_t(std::max(size.rows - foot_lines, 0)));
    if (size.rows > 0)
        lines.push_back(foot(scene, view));
    for (ScreenLine& line : lines)
        line.text = cut(std::move(line.text), size.columns);
    return lines;
}

std::string plain_text(const Scene& scene, const View& view) {
    std::string text;
    for (const ScreenLine& line : head(scene, view))
        text += line.text + "\n";
    if (!scene.model)
        return text;
    text += "\n";
    text += columns_line;
    text += "\n";
    for (const Row& row : make_rows(*scene.model, view))
        text += row_text(*scene.model, row) + "\n";
    return text;
}

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/overview.hpp"

#include "cli/top/screen-text.hpp"
#include "engine/base/printable.hpp"

#include <algorithm>

namespace scs::top {

namespace {

using Style = ScreenLine::Style;

constexpr const char* columns_line = "   LOAD %   PEAK %  LIMIT %  WORST %   SYNTHS     CUTS    ENDED  SERVER";
constexpr int head_lines = 3, foot_lines = 1;

constexpr const char* help_lines[] = {
    "LOAD     of the cycles' time, on average and (PEAK) at most, for about a second",
    "LIMIT    of the load: beyond it synths are ended or paused",
    "WORST    what the longest block of the last minute took, of the time it sounds",
    "CUTS     cycles with missing blocks; ENDED: synths, for want of time",
    "",
    "c v n    sort by load, synths or name            s        the next of these",
    "/        show servers with a text; Enter keeps it, Esc shows all",
    "p space  hold the picture                        arrows, page up and down: scroll",
    "q        quit                                    h ?      this text",
};

bool answers(const ServerRow& row) {
    return row.model && row.trouble.empty();
}

/// Which have the view's text, in its order. Those of which nothing is known are last.
std::vector<const ServerRow*> shown(const std::vector<ServerRow>& servers, const View& view) {
    std::vector<const ServerRow*> rows;
    for (const ServerRow& row : servers)
        if (view.finds(row.name))
            rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [&](const ServerRow* a, const ServerRow* b) {
        if (view.sort == Sort::name)
            return a->name < b->name;
        if (!a->model || !b->model)
            return a->model && !b->model;
        const ServerFigures &left = a->model->server, &right = b->model->server;
        return view.sort == Sort::cost ? left.load > right.load : left.synths > right.synths;
    });
    return rows;
}

std::string row_text(const ServerRow& row) {
    std::string text;
    if (row.model) {
        const ServerFigures& server = row.model->server;
        text = right(percent(server.load), 9) + right(percent(server.peak), 9) +
               right(server.limit > 0 ? number("%g", server.limit) : "none", 9) +
               right(server.longest_block ? percent(row.model->percent(server.longest_block)) : "?", 9);
        for (const int count : {server.synths, server.cuts, server.ended})
            text += right(std::to_string(count), 9);
    } else {
        for (int column = 0; column < 7; ++column)
            text += right("?", 9);
    }
    text += "  " + printable(row.name);
    return row.trouble.empty() ? text : text + "  " + printable(row.trouble);
}

std::string first_line(const std::vector<ServerRow>& servers, const View& view) {
    int count = 0;
    int64_t synths = 0;
    double sum = 0, most = 0;
    for (const ServerRow& row : servers)
        if (answers(row)) {
            ++count;
            synths += row.model->server.synths;
            sum += row.model->server.load;
            most = std::max(most, row.model->server.load);
        }
    std::string text = "pw-scsynth top  " + std::to_string(servers.size()) + " servers";
    if (count < int(servers.size()))
        text += ", of which " + std::to_string(count) + (count == 1 ? " answers" : " answer");
    if (count > 0)
        text += "  load " + percent(sum / count) + " % on average, " + percent(most) + " % at most  synths " +
                std::to_string(synths);
    return view.filter.empty() ? text : text + "  with \"" + printable(view.filter) + "\"";
}

ScreenLine foot(const View& view) {
    if (view.typing)
        return {"show servers with: " + printable(view.filter) + "_", Style::reverse};
    if (view.held)
        return {"the picture is held; p: go on", Style::reverse};
    return {"q quit  h help  p pause  c v n sort by load, synths, name  / filter", Style::plain};
}

} // namespace

int server_rows(const std::vector<ServerRow>& servers, const View& view) {
    return int(shown(servers, view).size());
}

int server_room(Size size) {
    return std::max(size.rows - head_lines - foot_lines, 0);
}

std::vector<ScreenLine> draw(const std::vector<ServerRow>& servers, const View& view, Size size) {
    std::vector<ScreenLine> lines = {{first_line(servers, view), Style::strong}, {}};
    if (view.help) {
        for (const char* line : help_lines)
            lines.push_back({line, Style::plain});
    } else {
        lines.push_back({columns_line, Style::reverse});
        const auto rows = shown(servers, view);
        const int room = server_room(size);
        const auto first = size_t(std::clamp(view.first_row, 0, std::max(int(rows.size()) - room, 0)));
        for (size_t i = first; i < rows.size() && int(i - first) < room; ++i)
            lines.push_back({row_text(*rows[i]), Style::plain});
    }
    lines.resize(size_t(std::max(size.rows - foot_lines, 0)));
    if (size.rows > 0)
        lines.push_back(foot(view));
    for (ScreenLine& line : lines)
        line.text = cut(std::move(line.text), size.columns);
    return lines;
}

std::string plain_text(const std::vector<ServerRow>& servers, const View& view) {
    std::string text = first_line(servers, view) + "\n\n" + columns_line + "\n";
    for (const ServerRow* row : shown(servers, view))
        text += row_text(*row) + "\n";
    return text;
}

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/overview.hpp"

#include <doctest/doctest.h>

using namespace scs::top;
using Style = ScreenLine::Style;

namespace {

Model model(double load, int synths, double limit = 70, int longest = 400'000) {
    Sample sample;
    sample.server = {.block_frames = 64,
                     .rate = 48000,
                     .load = load,
                     .peak = 2 * load,
                     .limit = limit,
                     .longest_block = longest,
                     .threads = 2,
                     .synths = synths,
                     .groups = 1,
                     .cuts = 1,
                     .ended = 2,
                     .paused = 3};
    sample.groups = {{0, -1, true}};
    return make_model(sample);
}

/// Three servers, of which one doesn't answer any more and a fourth never did.
struct Servers {
    const Model one = model(10, 100), two = model(42.4, 50, 0, 0), three = model(20, 7);
    const std::vector<ServerRow> rows = {{"c.local:57110", &one, ""},
                                         {"a.local:57110", &two, ""},
                                         {"b.local:57111", &three, "no server answers"},
                                         {"d\x1b:1", nullptr, ""}};
};

std::string text(const std::vector<ScreenLine>& lines) {
    std::string all;
    for (const ScreenLine& line : lines)
        all += line.text + "\n";
    return all;
}

constexpr const char* columns = "   LOAD %   PEAK %  LIMIT %  WORST %   SYNTHS     CUTS    ENDED  SERVER\n";
constexpr const char* a = "     42.4     84.8     none        ?       50        1        2  a.local:57110\n";
constexpr const char* b =
    "     20.0     40.0       70     30.0        7        1        2  b.local:57111  no server answers\n";
constexpr const char* c = "     10.0     20.0       70     30.0      100        1        2  c.local:57110\n";
constexpr const char* d = "        ?        ?        ?        ?        ?        ?        ?  d\\x1b:1\n";
constexpr const char* head = "pw-scsynth top  4 servers, of which 2 answer  load 26.2 % on average, 42.4 % at most  "
                             "synths 150";

} // namespace

TEST_CASE("several servers, by load, synths and name") {
    const Servers servers;
    const auto table = [&](Sort sort) {
        View view;
        view.sort = sort;
        return plain_text(servers.rows, view);
    };
    const std::string begin = std::string(head) + "\n\n" + columns;
    CHECK(table(Sort::cost) == begin + a + b + c + d);
    CHECK(table(Sort::voices) == begin + c + a + b + d);
    CHECK(table(Sort::name) == begin + a + b + c + d);
}

TEST_CASE("the screen has the same, and a foot") {
    const Servers servers;
    const auto lines = draw(servers.rows, {}, {120, 9});
    CHECK(text(lines) == std::string(head) + "\n\n" + columns + a + b + c + d +
                             "\nq quit  h help  p pause  c v n sort by load, synths, name  / filter\n");
    CHECK(lines[0].style == Style::strong);
    CHECK(lines[2].style == Style::reverse);
}

TEST_CASE("a filter, and what scrolls") {
    const Servers servers;
    View view;
    view.filter = "local";
    CHECK(server_rows(servers.rows, view) == 3);
    CHECK(plain_text(servers.rows, view) == std::string(head) + "  with \"local\"\n\n" + columns + a + b + c);
    view.first_row = 1;
    CHECK(server_room({120, 6}) == 2);
    CHECK(text(draw(servers.rows, view, {120, 6})).find(std::string(columns) + b + c) != std::string::npos);
    view.first_row = 100;
    CHECK(text(draw(servers.rows, view, {120, 6})).find(std::string(columns) + b + c) != std::string::npos);
    view.filter = "LOCAL";
    CHECK(server_rows(servers.rows, view) == 3);
    view.filter = "nowhere";
    CHECK(server_rows(servers.rows, view) == 0);
}

TEST_CASE("any size, also with help") {
    const Servers servers;
    for (const Size size : {Size{1, 1}, Size{0, 0}, Size{3, 4}, Size{10, 5}, Size{500, 100}}) {
        for (const bool help : {false, true}) {
            View view;
            view.help = help;
            const auto lines = draw(servers.rows, view, size);
            CHECK(int(lines.size()) == size.rows);
        }
    }
    View view;
    view.help = true;
    CHECK(text(draw(servers.rows, view, {80, 24})).find("LOAD     of the cycles' time") != std::string::npos);
    view.held = true;
    CHECK(draw(servers.rows, view, {80, 24}).back().text == "the picture is held; p: go on");
    view.typing = true;
    CHECK(draw(servers.rows, view, {80, 24}).back().text == "show servers with: _");
}

TEST_CASE("none answers") {
    const std::vector<ServerRow> rows = {{"a:1", nullptr, "no server"}, {"b:1", nullptr, ""}};
    CHECK(plain_text(rows, {}).starts_with("pw-scsynth top  2 servers, of which 0 answer\n\n"));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json.hpp"
#include "cli/top/screen.hpp"

#include <doctest/doctest.h>

using namespace scs::top;
using Style = ScreenLine::Style;

namespace {

Model model() {
    Sample sample;
    sample.server = {.block_frames = 64,
                     .rate = 48000,
                     .load = 23.456,
                     .peak = 41,
                     .limit = 70,
                     .longest_block = 400'000,
                     .threads = 2,
                     .synths = 2012,
                     .groups = 4,
                     .cuts = 1,
                     .ended = 2,
                     .paused = 3};
    sample.groups = {{0, -1, true}, {1, 0, true}, {2, 1, true}, {7, 0, false}};
    sample.synths = {{1, "default", 2000, 0, true, 125, 80}, {2, "verb", 1, 0, false, 0, 20'000},
                     {7, "d\x1b\"\\", 10, 0, true, 1, 80},   {0, "new", 1, 0, false, 0, 0},
                     {2, "sine", 2, 5, true, 0, 110},        {2, "off", 0, 3, true, 0, 100}};
    return make_model(sample);
}

std::string text(const std::vector<ScreenLine>& lines) {
    std::string all;
    for (const ScreenLine& line : lines)
        all += line.text + "\n";
    return all;
}

constexpr const char* tree = "   COST %  RUNNING   PAUSED  BATCHES  GROUP\n"
                             "   ~13.5+     2004       18      125  0  new\n"
                             "    ~13.5     2003        8      125    1  default ×2000\n"
                             "    ~1.52        3        8        0      2  verb, sine ×7 (5 paused), off ×3 (paused)\n"
                             "     0.00        0       10        0    7 paused  d\\x1b\"\\ ×10 (paused)\n";

constexpr const char* head = "pw-scsynth top  127.0.0.1:57110  64 frames a block, 48000 Hz, 2 threads\n"
                             "load 23.5 %  peak 41.0 %  limit 70 %  worst block of the last minute 30.0 %\n"
                             "synths 2012  groups 4  cuts 1  ended 2  paused 3\n";

} // namespace

TEST_CASE("the whole picture") {
    const Model shown = model();
    const Scene scene{"127.0.0.1:57110", &shown, ""};
    const auto lines = draw(scene, {}, {90, 12});
    CHECK(text(lines) == std::string(head) + "\n" + tree + "\n\n" +
                             "q quit  h help  p pause  c v n sort by cost, voices, ID  / filter  - + depth\n");
    CHECK(lines[0].style == Style::strong);
    CHECK(lines[4].style == Style::reverse);
    CHECK(lines[5].style == Style::plain);
    CHECK(plain_text(scene, {}) == std::string(head) + "\n" + tree);
}

TEST_CASE("lines are cut at the width, by characters") {
    const Model shown = model();
    const Scene scene{"127.0.0.1:57110", &shown, ""};
    const auto lines = draw(scene, {}, {52, 9});
    CHECK(lines[6].text == "    ~13.5     2003        8      125    1  default ×");
    for (const Size size : {Size{1, 1}, Size{0, 0}, Size{3, 4}, Size{10, 5}, Size{500, 100}}) {
        for (const bool help : {false, true}) {
            View view;
            view.help = help;
            const auto all = draw(scene, view, size);
            CHECK(int(all.size()) == size.rows);
            for (const ScreenLine& line : all)
                CHECK(line.text.size() <= size_t(size.columns) + 1);
        }
    }
}

TEST_CASE("a long tree is scrolled, no further than to its end") {
    Sample sample;
    for (int32_t id = 0; id < 50; ++id)
        sample.groups.push_back({id, id ? 0 : -1, true});
    const Model shown = make_model(sample);
    const Scene scene{"", &shown, ""};
    View view;
    view.first_row = 10;
    const auto lines = draw(scene, view, {80, 16});
    CHECK(tree_rows({80, 16}) == 10);
    CHECK(lines[5].text.ends_with("    10"));
    CHECK(lines[14].text.ends_with("    19"));
    view.first_row = 1000;
    const auto last = draw(scene, view, {80, 16});
    CHECK(last[14].text.ends_with("    49"));
    CHECK(first_row(1000, 50, {80, 16}) == 40);
    CHECK(first_row(-3, 50, {80, 16}) == 0);
    CHECK(first_row(3, 5, {80, 16}) == 0);
}

TEST_CASE("folded groups are in the line above them") {
    const Model shown = model();
    View view;
    view.depth = 0;
    const auto lines = draw({"", &shown, ""}, view, {200, 9});
    CHECK(lines[5].text ==
          "   ~13.5+     2004       18      125  0 and 3 groups  default ×2000, verb, sine ×7 (5 paused), new, "
          "d\\x1b\"\\ ×10 (paused), off ×3 (paused)");
    CHECK(lines[6].text.empty());
    view.depth = 1;
    CHECK(draw({"", &shown, ""}, view, {200, 9})[6].text.find("1 and 1 group  default") != std::string::npos);
}

TEST_CASE("what is unknown, and what isn't there") {
    Sample sample;
    sample.server.threads = 1;
    sample.groups = {{0, -1, true}};
    sample.synths = {{0, "new", 1, 0, false, 0, 0}};
    sample.whole = false;
    const Model shown = make_model(sample);
    const auto lines = draw({"a", &shown, ""}, {}, {120, 8});
    CHECK(lines[0].text.ends_with("1 thread"));
    CHECK(lines[1].text == "load 0.00 %  peak 0.00 %  limit none  worst block of the last minute unknown");
    CHECK(lines[2].text.ends_with("nodes come and go too fast: some are missing"));
    CHECK(lines[5].text == "        ?        1        0        0  0  new");
    const auto nothing = draw({"a", nullptr, ""}, {}, {80, 8});
    CHECK(nothing[0].text == "pw-scsynth top  a");
    CHECK(nothing[4].text.empty());
}

TEST_CASE("what the last line says") {
    const Model shown = model();
    View view;
    const auto foot = [&](const std::string& trouble) { return draw({"", &shown, trouble}, view, {80, 10}).back(); };
    CHECK(foot("").style == Style::plain);
    CHECK(foot("gone\x1b").text == "gone\\x1b");
    CHECK(foot("gone").style == Style::reverse);
    view.held = true;
    CHECK(foot("").text == "the picture is held; p: go on");
    CHECK(foot("gone").text == "gone");
    view.typing = true;
    view.filter = "ab";
    CHECK(foot("").text == "show what has: ab_");
    view.typing = false;
    CHECK(draw({"", &shown, ""}, view, {80, 10})[2].text.ends_with("paused 3  with \"ab\""));
}

TEST_CASE("help fits an ordinary terminal") {
    const Model shown = model();
    View view;
    view.help = true;
    const auto lines = draw({"", &shown, ""}, view, {});
    CHECK(text(lines).find("BATCHES") != std::string::npos);
    CHECK(text(draw({"", &shown, ""}, view, {200, 100})).size() == text(lines).size() + 76);
}

TEST_CASE("JSON") {
    CHECK(
        to_json(model(), "127.0.0.1", 57110) ==
        R"({"host":"127.0.0.1","port":57110,"block":64,"rate":48000,"load":23.456,"peak":41,"limit":70,)"
        R"("worst_block":30,"threads":2,"synths":2012,"group_count":4,"cuts":1,"ended":2,"paused":3,)"
        R"("whole":true,"groups":[)"
        R"({"id":0,"parent":null,"runs":true,"cost":13.5165,"estimated":true,"unmeasured":1,)"
        R"("running":2004,"paused":18,"batches":125,"synthdefs":[)"
        R"({"name":"new","cost":0,"estimated":false,"unmeasured":1,"running":1,"paused":0,"batches":0}]},)"
        R"({"id":1,"parent":0,"runs":true,"cost":13.5165,"estimated":true,"unmeasured":0,)"
        R"("running":2003,"paused":8,"batches":125,"synthdefs":[)"
        R"({"name":"default","cost":12,"estimated":true,"unmeasured":0,"running":2000,"paused":0,"batches":125}]},)"
        R"({"id":2,"parent":1,"runs":true,"cost":1.5165,"estimated":true,"unmeasured":0,)"
        R"("running":3,"paused":8,"batches":0,"synthdefs":[)"
        R"({"name":"verb","cost":1.5,"estimated":false,"unmeasured":0,"running":1,"paused":0,"batches":0},)"
        R"({"name":"sine","cost":0.0165,"estimated":true,"unmeasured":0,"running":2,"paused":5,"batches":0},)"
        R"({"name":"off","cost":0,"estimated":false,"unmeasured":0,"running":0,"paused":3,"batches":0}]},)"
        R"({"id":7,"parent":0,"runs":false,"cost":0,"estimated":false,"unmeasured":0,)"
        R"("running":0,"paused":10,"batches":0,"synthdefs":[)"
        R"({"name":"d\u001b\"\\","cost":0,"estimated":false,"unmeasured":0,"running":0,"paused":10,"batches":0}]}]})");
    const Model nothing = make_model({});
    const std::string empty = to_json(nothing, "a", 1);
    CHECK(empty.find("\"limit\":null,\"worst_block\":null") != std::string::npos);
    CHECK(empty.find("\"parent\":null") != std::string::npos);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/model.hpp"

#include <doctest/doctest.h>
#include <limits>

using namespace scs::top;

namespace {

/// Group 0 with 1 (voices "default", a hosted "verb"), 2 (paused, with 3 in it) and 4 (in 1).
Sample sample() {
    Sample made;
    made.server.block_frames = 64;
    made.server.rate = 48000; // a block sounds 1,333,333 ns
    made.groups = {{0, -1, true}, {1, 0, true}, {4, 1, true}, {2, 0, false}, {3, 2, true}};
    made.synths = {{1, "default", 64, 0, true, 4, 100},
                   {1, "verb", 1, 0, false, 0, 133'333},
                   {1, "default", 36, 10, true, 3, 100},
                   {4, "new", 2, 0, false, 0, 0},
                   {3, "default", 500, 5, true, 40, 100}};
    return made;
}

std::string rows(const Model& model, const View& view) {
    std::string text;
    for (const Row& row : make_rows(model, view)) {
        text += (text.empty() ? "" : " ") + std::to_string(model.groups[row.group].id);
        if (row.folded)
            text += "+" + std::to_string(row.folded);
    }
    return text;
}

View with(Sort sort, const char* filter = "", int depth = View::all_depths) {
    View view;
    view.sort = sort;
    view.filter = filter;
    view.depth = depth;
    return view;
}

} // namespace

TEST_CASE("synths are added up by SynthDef, group and all that a group has") {
    const Model model = make_model(sample());
    REQUIRE(model.groups.size() == 5);
    const GroupLine& one = model.groups[1];
    REQUIRE(one.defs.size() == 2);
    CHECK(one.defs[0].name == "verb"); // the dearest first
    CHECK(one.defs[1].name == "default");
    CHECK(one.defs[1].sums.running == 100);
    CHECK(one.defs[1].sums.paused == 10);
    CHECK(one.defs[1].sums.batches == 7);
    CHECK(one.defs[1].sums.nsec == 10'000);
    CHECK(one.own.running == 101);
    CHECK(one.own.nsec == 143'333);
    CHECK(one.all.running == 103);
    CHECK(model.groups[0].all.running == 103);
    CHECK(model.groups[0].all.paused == 515);
    CHECK(model.groups[0].all.batches == 7);
    CHECK(model.groups[0].own.running == 0);
    CHECK(model.percent(model.groups[0].all.nsec) == doctest::Approx(10.75));
}

TEST_CASE("a paused group's synths are paused, at any depth, and cost nothing") {
    const Model model = make_model(sample());
    const GroupLine& inner = model.groups[4];
    CHECK(inner.id == 3);
    CHECK_FALSE(inner.runs);
    CHECK(inner.own.running == 0);
    CHECK(inner.own.paused == 505);
    CHECK(inner.own.nsec == 0);
    CHECK_FALSE(inner.own.estimated);
    CHECK(model.groups[3].all.paused == 505);
}

TEST_CASE("what is an estimate, and what isn't known at all") {
    const Model model = make_model(sample());
    CHECK(model.groups[1].defs[1].sums.estimated);
    CHECK_FALSE(model.groups[1].defs[0].sums.estimated);
    CHECK(model.groups[0].all.estimated);
    CHECK(model.groups[2].own.unmeasured == 2);
    CHECK(model.groups[0].all.unmeasured == 2);
}

TEST_CASE("nodes that were moved between two pages are counted somewhere, once") {
    Sample moved = sample();
    moved.groups = {{0, -1, true}, {5, 9, true}, {9, 5, true}, {5, 0, true}, {0, 5, true}};
    moved.synths = {{9, "one", 1, 0, false, 0, 10}, {77, "one", 2, 0, false, 0, 10}};
    const Model model = make_model(moved);
    REQUIRE(model.groups.size() == 3);
    CHECK(model.groups[1].parent == 0);
    CHECK(model.groups[2].parent == 1);
    CHECK(model.groups[0].all.running == 3);
    CHECK(model.groups[0].own.running == 2);
    CHECK(make_model({}).groups.size() == 1);
}

TEST_CASE("neighbours are sorted, each after the group that it is in") {
    const Model model = make_model(sample());
    CHECK(rows(model, with(Sort::cost)) == "0 1 4 2 3");
    CHECK(rows(model, with(Sort::name)) == "0 1 4 2 3");
    Sample other = sample();
    other.groups = {{0, -1, true}, {9, 0, true}, {3, 0, true}, {5, 0, true}, {4, 0, true}};
    other.synths = {{9, "a", 1, 0, false, 0, 10}, {3, "a", 2, 0, false, 0, 30}, {5, "b", 9, 0, false, 0, 1}};
    const Model flat = make_model(other);
    CHECK(rows(flat, with(Sort::cost)) == "0 3 9 5 4");
    CHECK(rows(flat, with(Sort::voices)) == "0 5 3 9 4");
    CHECK(rows(flat, with(Sort::name)) == "0 3 4 5 9");
}

TEST_CASE("the filter shows what has the text, and the way to it") {
    const Model model = make_model(sample());
    CHECK(rows(model, with(Sort::name, "verb")) == "0 1");
    CHECK(rows(model, with(Sort::name, "DEF")) == "0 1 2 3");
    CHECK(rows(model, with(Sort::name, "new")) == "0 1 4");
    CHECK(rows(model, with(Sort::name, "3")) == "0 2 3");
    CHECK(rows(model, with(Sort::name, "nothing")) == "");
}

TEST_CASE("groups further down are folded into the line above them") {
    const Model model = make_model(sample());
    CHECK(rows(model, with(Sort::name, "", 1)) == "0 1+1 2+1");
    CHECK(rows(model, with(Sort::name, "", 0)) == "0+4");
    CHECK(rows(model, with(Sort::name, "new", 1)) == "0 1+1");
    const auto all = make_rows(model, with(Sort::name, "", 0));
    REQUIRE(all[0].defs.size() == 3);
    CHECK(all[0].defs[0].name == "verb");
    CHECK(all[0].defs[1].name == "default");
    CHECK(all[0].defs[1].sums.running == 100);
    CHECK(all[0].defs[1].sums.paused == 515);
    const auto one = make_rows(model, with(Sort::name, "", 1));
    CHECK(one[1].defs.size() == 3);
    CHECK(one[2].defs.size() == 1);
}

TEST_CASE("a nest of any depth") {
    Sample deep;
    for (int32_t id = 0; id < 100'000; ++id)
        deep.groups.push_back({id, id - 1, true});
    deep.synths = {{99'999, "one", 1, 0, false, 0, 10}};
    const Model model = make_model(deep);
    CHECK(model.groups[0].all.running == 1);
    CHECK(make_rows(model, {}).size() == 100'000);
    CHECK(make_rows(model, with(Sort::cost, "", 3)).back().folded == 99'996);
}

TEST_CASE("a group that says it is in itself is in the first one") {
    Sample made = sample();
    made.groups.push_back({9, 9, true});
    const Model model = make_model(made);
    REQUIRE(model.groups.size() == 6);
    CHECK(model.groups[5].parent == 0);
    CHECK(rows(model, with(Sort::name)) == "0 1 4 2 3 9");
}

TEST_CASE("numbers of synths that are as large as can be told") {
    constexpr int most = std::numeric_limits<int>::max();
    Sample made;
    made.groups = {{0, -1, false}};
    made.synths = {{0, "default", most, most, true, 1, most}};
    CHECK(make_model(made).groups[0].all.paused == 2 * int64_t(most));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-command-bench.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;

namespace {

constexpr const char* head = "[ \"/g_queryCost.reply\", ";

void define(CommandBench& bench, const std::string& name) {
    const auto bytes = definition(name, 1);
    REQUIRE(bench("/d_recv", std::span<const std::byte>(bytes)) == "[ \"/done\", \"/d_recv\" ]\n");
}

std::vector<std::string> words(const std::string& reply) {
    REQUIRE(reply.starts_with(head));
    std::istringstream text(reply.substr(std::string(head).size()));
    std::vector<std::string> all;
    for (std::string word; text >> word && word != "]";)
        all.push_back(word.ends_with(",") ? word.substr(0, word.size() - 1) : word);
    return all;
}

/// The group and where the page begins, then the entries; without what is said of the server.
std::string tree(const std::string& reply) {
    constexpr size_t place = 3, server = 12;
    const auto all = words(reply);
    std::string text;
    for (size_t i = 0; i < all.size(); ++i)
        if (i < place || i >= place + server)
            text += (text.empty() ? "" : " ") + all[i];
    return text;
}

std::string run(CommandBench& bench, const std::vector<int32_t>& args) {
    return bench.run(CommandBench::message("/g_queryCost", {args.begin(), args.end()}));
}

std::vector<int32_t> next(const std::string& reply) {
    const auto all = words(reply);
    std::vector<int32_t> places;
    for (auto at = std::find(all.begin(), all.end(), "\"next\""); at != all.end() && ++at != all.end();)
        places.push_back(std::stoi(*at));
    return places;
}

/// How many synths, groups and batches all pages tell of.
struct Sums {
    int pages = 0, groups = 0, running = 0, paused = 0, batches = 0;
};

Sums sums(CommandBench& bench) {
    Sums all;
    for (std::vector<int32_t> args{0}; !args.empty(); ++all.pages) {
        const std::string reply = run(bench, args);
        const auto found = words(reply);
        for (size_t i = 0; i < found.size(); ++i) {
            all.groups += found[i] == "\"group\"";
            if (found[i] != "\"synths\"")
                continue;
            all.running += std::stoi(found[i + 3]);
            all.paused += std::stoi(found[i + 4]);
            all.batches += std::stoi(found[i + 6]);
        }
        args = next(reply);
        if (!args.empty())
            args.insert(args.begin(), 0);
    }
    return all;
}

} // namespace

TEST_CASE("groups in the order of the tree, neighbours of one SynthDef together") {
    CommandBench bench;
    define(bench, "one");
    define(bench, "two");
    bench("/g_new", 10, 1, 0, 11, 0, 10, 12, 1, 0);
    for (const auto& [name, id, group] : {std::tuple{"one", 100, 10},
                                          {"one", 101, 10},
                                          {"two", 102, 10},
                                          {"one", 103, 10},
                                          {"two", 104, 11},
                                          {"one", 105, 0}})
        bench("/s_new", std::string_view(name), id, 1, group);
    bench("/n_run", 101, 0, 12, 0);
    // A voice that doesn't play yet is in no batch. Its SynthDef isn't measured without a deadline.
    const char* expected = "0 0 0 \"group\" 0 -1 1 \"group\" 10 0 1 \"group\" 11 10 1 \"synths\" 11 \"two\" 1 0 1 0 0 "
                           "\"synths\" 10 \"one\" 1 1 1 0 0 \"synths\" 10 \"two\" 1 0 1 0 0 "
                           "\"synths\" 10 \"one\" 1 0 1 0 0 \"group\" 12 0 0 \"synths\" 0 \"one\" 1 0 1 0 0";
    CHECK(tree(run(bench, {0})) == expected);
    CHECK(tree(run(bench, {})) == expected);
    CHECK(tree(run(bench, {11})) == "11 11 0 \"group\" 11 10 1 \"synths\" 11 \"two\" 1 0 1 0 0");
    CHECK(tree(run(bench, {12})) == "12 12 0 \"group\" 12 0 0");
    CHECK(tree(bench("/g_queryCost", std::string_view("hh"), 0)) == tree(run(bench, {11})));
}

TEST_CASE("a page begins at the first place that is still there") {
    CommandBench bench;
    define(bench, "one");
    bench("/g_new", 10, 1, 0, 11, 1, 0);
    bench("/s_new", std::string_view("one"), 100, 1, 10);
    bench("/s_new", std::string_view("one"), 101, 1, 10);
    const std::string rest = " \"group\" 11 0 1";
    CHECK(tree(run(bench, {0, 101, 0})) == "0 101 0 \"synths\" 10 \"one\" 1 0 1 0 0" + rest);
    CHECK(tree(run(bench, {0, 77, 0, 78, 1, 101, 0, 10, 1})) == "0 101 0 \"synths\" 10 \"one\" 1 0 1 0 0" + rest);
    CHECK(tree(run(bench, {0, 101, 1})) == "0 101 1" + rest);
    CHECK(tree(run(bench, {0, 10, 1})) == "0 10 1" + rest);
    CHECK(tree(run(bench, {0, 11})) == "0 11 0" + rest);
    CHECK(tree(run(bench, {0, 0, 1})) == "0 0 1");
    CHECK(tree(run(bench, {10, 10, 1})) == "10 10 1");
    CHECK(run(bench, {0, 77, 0, 78, 0}) == "[ \"/fail\", \"/g_queryCost\", \"Node 77 not found\" ]\n");
    // No more than sixteen are looked for.
    std::vector<int32_t> many{0};
    for (int32_t i = 0; i < 15; ++i)
        many.insert(many.end(), {700 + i, 0});
    many.insert(many.end(), {11, 0});
    CHECK(tree(run(bench, many)) == "0 11 0" + rest);
    many.insert(many.begin() + 1, {699, 0});
    CHECK(run(bench, many) == "[ \"/fail\", \"/g_queryCost\", \"Node 699 not found\" ]\n");
}

TEST_CASE("what is no group is a failure") {
    CommandBench bench;
    define(bench, "one");
    bench("/s_new", std::string_view("one"), 100, 1, 0);
    for (const int32_t id : {100, 77, -7, 2147483647})
        CHECK(run(bench, {id}) == "[ \"/fail\", \"/g_queryCost\", \"Group " + std::to_string(id) + " not found\" ]\n");
    CHECK(tree(bench("/g_queryCost", std::string_view("?"), std::string_view("?"))).starts_with("0 0 "));
}

TEST_CASE("the server's settings and counts come first") {
    CommandBench bench;
    const auto all = words(run(bench, {0}));
    REQUIRE(all.size() == 3 + 12 + 4);
    CHECK(all[3] == "64");
    CHECK(all[4] == "48000");
    CHECK(all[7] == "70");
    CHECK(all[8] == "0"); // no block was timed
    CHECK(all[9] == std::to_string(bench.engine().settings().threads));
    CHECK(std::vector(all.begin() + 10, all.begin() + 15) == std::vector<std::string>{"0", "1", "0", "0", "0"});
    bench.engine().status().longest_block = 123'456;
    bench.engine().status().cuts = uint64_t(1) << 40;
    bench.engine().status().ended = 3;
    bench.engine().status().paused = 4;
    bench("/g_new", 1, 0, 0);
    const auto later = words(bench.run(CommandBench::message("/g_queryCost", {})));
    CHECK(later[11] == "2");
    CHECK(later[12] == "2147483647");
    CHECK(later[13] == "3");
    CHECK(later[14] == "4");
}

TEST_CASE("voices are counted with the batches that they are in") {
    CommandBench bench;
    define(bench, "one");
    for (int32_t i = 0; i < 200; ++i)
        bench("/s_new", std::string_view("one"), 100 + i, 1, 0);
    for (int i = 0; i < 4; ++i)
        bench.render();
    const Sums all = sums(bench);
    CHECK(all.running == 200);
    CHECK(all.batches > 200 / 32);
    CHECK(all.batches <= 200 / 4);
    bench("/n_run", 100, 0, 150, 0);
    CHECK(sums(bench).running == 198);
    CHECK(sums(bench).paused == 2);
    bench("/g_freeAll", 0);
    CHECK(sums(bench).batches == 0);
}

TEST_CASE("a large tree is told in pages, each no longer than a datagram and of a bounded time") {
    CommandBench bench;
    const std::string name(255, 'x');
    define(bench, name);
    define(bench, "two");
    int32_t id = 1000;
    // Each in the one before, so that the way up has pages of its own.
    for (int i = 0; i < 3000; ++i, ++id)
        bench("/g_new", id, 1, i ? id - 1 : 0);
    const int32_t deepest = id - 1;
    for (int i = 0; i < 3000; ++i, ++id)
        bench("/s_new", std::string_view("two"), id, 1, 0);
    for (int i = 0; i < 300; ++i, id += 2) {
        bench("/s_new", std::string_view(name), id, 1, deepest);
        bench("/s_new", std::string_view("two"), id + 1, 1, deepest);
    }
    bench("/n_run", id - 1, 0, id - 3, 0);
    const Sums all = sums(bench);
    CHECK(all.groups == 3001);
    CHECK(all.running == 3000 + 600 - 2);
    CHECK(all.paused == 2);
    CHECK(all.pages >= (2 * 3000 + 3000 + 600) / 1024);
    for (std::vector<int32_t> args{0}; !args.empty();) {
        const std::string reply = run(bench, args);
        CHECK(reply.size() < 40'000);
        args = next(reply);
        if (!args.empty())
            args.insert(args.begin(), 0);
    }
}

TEST_CASE("nodes that go between two pages are passed over, and nothing after them is lost") {
    CommandBench bench;
    define(bench, "one");
    bench("/g_new", 10, 1, 0, 11, 1, 0);
    for (int32_t id = 1000; id < 2500; ++id)
        bench("/s_new", std::string_view("one"), id, 1, 10);
    const std::vector<int32_t> places = next(run(bench, {0}));
    REQUIRE(places.size() == 2 * 16);
    const int32_t first = places[0];
    for (int32_t i = 0; i < 15; ++i)
        CHECK(places[size_t(2 * i)] == first + i);
    CHECK(places[30] == 10);
    CHECK(places[31] == 1);
    const auto go_on = [&] {
        std::vector<int32_t> args{0};
        args.insert(args.end(), places.begin(), places.end());
        return run(bench, args);
    };
    CHECK(tree(go_on()).starts_with("0 " + std::to_string(first) + " 0 "));
    for (int32_t i = 0; i < 14; ++i)
        bench("/n_free", first + i);
    CHECK(tree(go_on()).starts_with("0 " + std::to_string(first + 14) + " 0 \"synths\" 10 \"one\" 64 "));
    bench("/n_free", first + 14);
    CHECK(tree(go_on()) == "0 10 1 \"group\" 11 0 1");
    bench("/n_free", 10);
    CHECK(go_on() == "[ \"/fail\", \"/g_queryCost\", \"Node " + std::to_string(first) + " not found\" ]\n");
}

TEST_CASE("satellites count as synths of their reference's group, on each page") {
    CommandBench bench;
    define(bench, "one");
    define(bench, "two");
    bench("/g_new", 10, 1, 0);
    bench("/s_new", std::string_view("one"), 100, 1, 10);
    bench("/sat_new", std::string_view("two"), 101, 0, 100);
    bench("/sat_new", std::string_view("two"), 102, 1, 100);
    bench("/sat_new", std::string_view("one"), 103, 1, 102);
    bench("/sat_new", std::string_view("one"), 104, 0, 10);
    CHECK(tree(run(bench, {10})) == "10 10 0 \"group\" 10 0 1 \"synths\" 10 \"two\" 1 0 1 0 0 "
                                    "\"synths\" 10 \"one\" 1 0 1 0 0 \"synths\" 10 \"two\" 1 0 1 0 0 "
                                    "\"synths\" 10 \"one\" 1 0 1 0 0");
    CHECK(tree(run(bench, {0})).starts_with("0 0 0 \"group\" 0 -1 1 \"synths\" 0 \"one\" 1 0 1 0 0 \"group\" 10 0 1"));
    for (int i = 0; i < 2000; ++i)
        bench("/sat_new", std::string_view(i % 3 ? "one" : "two"), 1000 + i, i % 2,
              i < 16 ? 100 : 1000 + (i < 160 ? i - 16 : i % 160));
    const Sums all = sums(bench);
    CHECK(all.pages > 1);
    CHECK(all.groups == 2);
    CHECK(all.running == int(bench.engine().tree().counts().synths()));
}

TEST_CASE("places that are in no page harm nothing") {
    CommandBench bench;
    define(bench, "one");
    bench("/g_new", 10, 1, 0, 11, 1, 0);
    bench("/s_new", std::string_view("one"), 100, 1, 10);
    bench("/s_new", std::string_view("one"), 101, 1, 11);
    for (const int32_t node : {0, 10, 11, 100, 101})
        for (const int32_t behind : {0, 1, -1})
            CHECK(run(bench, {10, node, behind}).starts_with(head));
    CHECK(tree(run(bench, {10})) == "10 10 0 \"group\" 10 0 1 \"synths\" 10 \"one\" 1 0 1 0 0");
}

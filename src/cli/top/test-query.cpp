// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/query.hpp"

#include "cli/top/test-reply.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace scs;
using namespace scs::top;
using test::Args;
using test::reply;
using Step = Query::Step;

namespace {

/// A page that begins at that place, with these entries.
osc::Packet page(int32_t begins, bool behind, const Args& entries, const char* address = "/g_queryCost.reply") {
    Args args{int32_t(0),       begins,     int32_t(behind), int32_t(64), 48000.0,    12.5f,      20.f,      70.f,
              int32_t(600'000), int32_t(2), int32_t(100),    int32_t(3),  int32_t(4), int32_t(5), int32_t(6)};
    args.insert(args.end(), entries.begin(), entries.end());
    return reply(address, args);
}

Args group(int32_t id, int32_t parent, int32_t runs = 1) {
    return {std::string_view("group"), id, parent, runs};
}

Args synths(int32_t group, const char* name, int32_t running) {
    return {std::string_view("synths"),
            group,
            std::string_view(name),
            running,
            int32_t(1),
            int32_t(1),
            int32_t(2),
            int32_t(60)};
}

Args next(std::vector<int32_t> places) {
    Args args{std::string_view("next")};
    args.insert(args.end(), places.begin(), places.end());
    return args;
}

Args operator+(Args left, const Args& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Step give(Query& query, const osc::Packet& packet) {
    return query.take(packet.messages()[0]);
}

Step fail(Query& query, const char* command, const char* text) {
    return give(query, reply("/fail", {std::string_view(command), std::string_view(text)}));
}

std::string asked(const Query& query) {
    auto packet = osc::decode(query.packet());
    REQUIRE(packet);
    return osc::to_text(packet.value());
}

} // namespace

TEST_CASE("a page is read") {
    const auto packet = page(0, false, group(0, -1) + synths(0, "default", 7) + group(5, 0, 0) + next({12, 0, 5, 1}));
    const auto parsed = parse_page(packet.messages()[0]);
    REQUIRE(parsed);
    const Page& read = parsed.value();
    CHECK(read.group == 0);
    CHECK(read.begins == Place{0, false});
    CHECK(read.server.block_frames == 64);
    CHECK(read.server.rate == 48000);
    CHECK(read.server.load == 12.5);
    CHECK(read.server.peak == 20);
    CHECK(read.server.limit == 70);
    CHECK(read.server.longest_block == 600'000);
    CHECK(read.server.threads == 2);
    CHECK(read.server.synths == 100);
    CHECK(read.server.groups == 3);
    CHECK(read.server.cuts == 4);
    CHECK(read.server.ended == 5);
    CHECK(read.server.paused == 6);
    REQUIRE(read.groups.size() == 2);
    CHECK(read.groups[1].id == 5);
    CHECK(read.groups[1].parent == 0);
    CHECK_FALSE(read.groups[1].runs);
    REQUIRE(read.synths.size() == 1);
    CHECK(read.synths[0].name == "default");
    CHECK(read.synths[0].running == 7);
    CHECK(read.synths[0].paused == 1);
    CHECK(read.synths[0].native);
    CHECK(read.synths[0].batches == 2);
    CHECK(read.synths[0].cost == 60);
    CHECK(read.next == std::vector<Place>{{12, false}, {5, true}});
}

TEST_CASE("a page that isn't as it should be is refused, wherever it ends") {
    const Args entries = group(0, -1) + synths(0, "default", 7);
    for (size_t left = 0; left < entries.size(); ++left) {
        const bool whole = left == 0 || left == 4;
        const auto packet = page(0, false, {entries.begin(), entries.begin() + ptrdiff_t(left)});
        CHECK(bool(parse_page(packet.messages()[0])) == whole);
    }
    for (const Args& wrong : {Args{int32_t(5)}, Args{std::string_view("other"), int32_t(1)}, next({5}),
                              Args{std::string_view("group"), 0.5f, int32_t(0), int32_t(1)}}) {
        const auto packet = page(0, false, wrong);
        CHECK_FALSE(parse_page(packet.messages()[0]));
    }
    const auto empty = reply("/g_queryCost.reply", {});
    CHECK_FALSE(parse_page(empty.messages()[0]));
    const auto other = page(0, false, {}, "/g_queryTree.reply");
    CHECK_FALSE(parse_page(other.messages()[0]));
}

TEST_CASE("numbers that make no sense do no harm") {
    Args args{int32_t(0), int32_t(0), int32_t(0), int32_t(-64), double(NAN), float(INFINITY), -1.f, 0.f};
    for (int i = 0; i < 7; ++i)
        args.emplace_back(int32_t(-1));
    const auto packet = reply("/g_queryCost.reply", args);
    const auto parsed = parse_page(packet.messages()[0]);
    REQUIRE(parsed);
    CHECK(parsed.value().server.block_frames == 0);
    CHECK(parsed.value().server.rate == 0);
    CHECK(parsed.value().server.load == 0);
    CHECK(parsed.value().server.cuts == 0);
    CHECK(parsed.value().server.block_nsec() == 0);
}

TEST_CASE("a sample of several pages") {
    Query query;
    CHECK(asked(query) == "[ \"/g_queryCost\", 0 ]\n");
    CHECK(give(query, page(0, false, group(0, -1) + synths(0, "one", 3) + next({7, 0, 8, 0, 0, 1}))) == Step::ask);
    CHECK(asked(query) == "[ \"/g_queryCost\", 0, 7, 0, 8, 0, 0, 1 ]\n");
    CHECK(give(query, page(8, false, synths(0, "two", 4) + next({0, 1}))) == Step::ask);
    CHECK(give(query, page(0, true, {})) == Step::done);
    CHECK(query.sample().whole);
    CHECK(query.sample().server.synths == 100);
    REQUIRE(query.sample().synths.size() == 2);
    CHECK(query.sample().synths[1].name == "two");
}

TEST_CASE("what answers another question is passed over") {
    Query query;
    const auto first = page(0, false, group(0, -1) + next({7, 0}));
    CHECK(give(query, page(7, false, {})) == Step::ignored);
    CHECK(give(query, reply("/done", {std::string_view("/notify")})) == Step::ignored);
    CHECK(fail(query, "/n_free", "Node 7 not found") == Step::ignored);
    CHECK(give(query, first) == Step::ask);
    CHECK(give(query, first) == Step::ignored); // answered twice
    CHECK(give(query, page(7, true, {})) == Step::ignored);
    CHECK(give(query, page(7, false, {})) == Step::done);
    CHECK(query.sample().groups.size() == 1);
}

TEST_CASE("where all nodes of the next place have gone the tree is asked for anew, a few times") {
    Query query;
    const auto first = page(0, false, group(0, -1) + synths(0, "one", 3) + next({7, 0}));
    for (int i = 0; i < 3; ++i) {
        CHECK(give(query, first) == Step::ask);
        CHECK(fail(query, "/g_queryCost", "Node 7 not found") == Step::ask);
        CHECK(asked(query) == "[ \"/g_queryCost\", 0 ]\n");
        CHECK(query.sample().synths.empty());
    }
    CHECK(give(query, first) == Step::ask);
    CHECK(fail(query, "/g_queryCost", "Node 7 not found") == Step::done);
    CHECK_FALSE(query.sample().whole);
    CHECK(query.sample().synths.size() == 1);
}

TEST_CASE("what ends a query") {
    Query old;
    CHECK(fail(old, "/g_queryCost", "Command not found") == Step::failed);
    CHECK(old.failure() == "the server has no /g_queryCost: it is scsynth, or an older pw-scsynth");
    Query busy;
    CHECK(fail(busy, "/g_queryCost", "command queue full") == Step::failed);
    CHECK(busy.failure() == "the server refuses /g_queryCost: command queue full");
    Query strange;
    CHECK(give(strange, reply("/g_queryCost.reply", {int32_t(1)})) == Step::failed);
    Query endless;
    Step step = give(endless, page(0, false, next({0, 0})));
    int pages = 1;
    for (; step == Step::ask && pages < 100'000; ++pages)
        step = give(endless, page(0, false, next({0, 0})));
    CHECK(step == Step::failed);
    CHECK(pages == 4096);
    Query full;
    Args entries;
    for (int i = 0; i < 2000; ++i)
        entries = entries + group(i, 0);
    const auto large = page(0, false, entries + next({0, 0}));
    step = give(full, large);
    for (pages = 1; step == Step::ask && pages < 4096; ++pages)
        step = give(full, large);
    CHECK(step == Step::failed);
    CHECK(full.failure() == "the server's tree has no end");
    CHECK(pages == (1 << 21) / 2000 + 1);
}

TEST_CASE("long names are no way to fill the memory") {
    const std::string name(1 << 20, 'x');
    const auto large = page(0, false, synths(0, name.c_str(), 1) + next({0, 0}));
    Query query;
    Step step = give(query, large);
    int pages = 1;
    for (; step == Step::ask && pages < 100; ++pages)
        step = give(query, large);
    CHECK(step == Step::failed);
    CHECK(query.failure() == "the server's tree has no end");
    CHECK(pages == 65);
}

TEST_CASE("names are counted anew where the tree is asked for anew") {
    const std::string name(40 << 20, 'x');
    const auto large = page(0, false, synths(0, name.c_str(), 1) + next({7, 0}));
    Query query;
    CHECK(give(query, large) == Step::ask);
    CHECK(fail(query, "/g_queryCost", "Node 7 not found") == Step::ask);
    CHECK(give(query, large) == Step::ask);
}

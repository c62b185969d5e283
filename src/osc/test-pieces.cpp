// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that are interrupted by the deadline as often as can be leave the same and answer the same as others.
#include "osc/test-command-bench.hpp"

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;

namespace {

/// The third look at it in a wake-up finds that the time is over.
int64_t hasty_time = 0;
constexpr NanoClock hasty{[](void*) noexcept { return hasty_time += 400'000; }};

std::vector<ReplyArg> numbers(int first, int count, std::vector<ReplyArg> args = {}) {
    for (int i = 0; i < count; ++i)
        args.emplace_back(int32_t(first + i));
    return args;
}

/// The message with its strings "[" and "]" made brackets.
std::vector<std::byte> with_arrays(std::vector<std::byte> message) {
    const auto text = [&](size_t at) { return std::string(reinterpret_cast<const char*>(&message[at])); };
    size_t tag = padded(text(0).size() + 1);
    size_t value = tag + padded(text(tag).size() + 1);
    for (++tag; message[tag] != std::byte(0); ++tag) {
        if (message[tag] != std::byte('s')) {
            value += 4;
        } else if (const std::string found = text(value); found == "[" || found == "]") {
            message[tag] = std::byte(found[0]);
            message.erase(message.begin() + ptrdiff_t(value), message.begin() + ptrdiff_t(value + 4));
        } else {
            value += padded(found.size() + 1);
        }
    }
    return message;
}

std::vector<ReplyArg> array(int count, std::vector<ReplyArg> before) {
    before.emplace_back(std::string_view("["));
    for (int i = 0; i < count; ++i)
        before.emplace_back(float(i) + 0.5f);
    before.emplace_back(std::string_view("]"));
    return before;
}

/// What all these commands answer and print, and how many wake-ups they took.
std::string run_all(CommandBench& bench, uint64_t& cycles) {
    std::string all;
    const uint64_t before = bench.engine().status().cycles;
    const auto send = [&](const char* address, std::vector<ReplyArg> args) {
        all += bench.run(with_arrays(CommandBench::message(address, args)));
        all += bench.printed();
        all += bench.render();
    };
    // All pages, without what they say of the server, which is different each time.
    const auto costs = [&](std::vector<int32_t> groups) {
        for (const int32_t group : groups) {
            std::vector<ReplyArg> args{group};
            while (!args.empty()) {
                const std::string reply = bench.run(CommandBench::message("/g_queryCost", args));
                all += reply.substr(std::min(reply.find(", \""), reply.size()));
                const size_t next = reply.find("\"next\", ");
                args.clear();
                for (size_t at = next; at != reply.npos; at = reply.find(", ", at + 1)) {
                    if (args.empty())
                        args.emplace_back(group);
                    args.emplace_back(int32_t(std::stoi(reply.substr(at + (at == next ? 8 : 2)))));
                }
            }
        }
    };
    const auto blob = definition("many", 50);
    send("/d_recv", {ReplyArg(std::span<const std::byte>(blob))});
    std::vector<ReplyArg> groups;
    for (int32_t i = 1; i <= 30; ++i)
        groups.insert(groups.end(), {ReplyArg(i), ReplyArg(int32_t(1)), ReplyArg(int32_t(i % 3 ? 0 : i - 1))});
    send("/g_new", groups);
    for (int32_t i = 100; i < 300; ++i) {
        std::vector<ReplyArg> args{std::string_view("many"), i, int32_t(1), int32_t(i % 31)};
        for (int32_t c = 0; c < 50; c += 7)
            args.insert(args.end(), {ReplyArg(c), ReplyArg(float(c * i))});
        send("/s_new", args);
    }
    std::vector<ReplyArg> set{int32_t(0)}, setn{int32_t(0)}, fill{int32_t(2)}, map{int32_t(3)}, mapn{int32_t(5)};
    for (int32_t i = 0; i < 40; ++i) {
        set.insert(set.end(), {ReplyArg(i), ReplyArg(float(i) * 0.5f)});
        setn.insert(setn.end(), {ReplyArg(std::string_view("c7")), ReplyArg(int32_t(1)), ReplyArg(float(i))});
        fill.insert(fill.end(), {ReplyArg(i), ReplyArg(int32_t(3)), ReplyArg(float(i) * 2)});
        map.insert(map.end(), {ReplyArg(i), ReplyArg(i)});
        mapn.insert(mapn.end(), {ReplyArg(i), ReplyArg(i), ReplyArg(int32_t(2))});
    }
    send("/n_set", set);
    send("/n_setn", setn);
    send("/n_fill", fill);
    send("/n_map", map);
    send("/n_mapn", mapn);
    send("/n_set", array(3, array(45, {int32_t(0), int32_t(2), 0.75f, std::string_view("c9")})));
    send("/n_set", array(45, {int32_t(0), int32_t(3)}));
    send("/n_setn", numbers(70, 45, {int32_t(4), int32_t(5), int32_t(60)}));
    send("/n_fill", {int32_t(6), int32_t(-3), int32_t(60), 0.125f, int32_t(10), int32_t(20), std::string_view("c5")});
    send("/n_mapn", {int32_t(7), int32_t(20), int32_t(100), int32_t(90)});
    send("/s_new", array(49, {std::string_view("many"), int32_t(400), int32_t(1), int32_t(8), int32_t(1)}));
    send("/s_newargs",
         numbers(500, 50, {std::string_view("many"), int32_t(401), int32_t(1), int32_t(8), int32_t(0), int32_t(50)}));
    send("/g_new", {int32_t(10), int32_t(4), int32_t(10), int32_t(40), int32_t(4), int32_t(15)});
    send("/s_new", array(49, {std::string_view("many"), int32_t(20), int32_t(4), int32_t(20), int32_t(1)}));
    send("/g_queryTree", {int32_t(0), int32_t(1)});
    send("/g_queryTree", {int32_t(0), int32_t(0), int32_t(3), int32_t(1), int32_t(4), int32_t(0)});
    costs({0, 5});
    for (const char* list : {"/n_list", "/d_list", "/b_list", "/bind_list"})
        send(list, {});
    send("/n_status", numbers(90, 150));
    send("/s_query", numbers(90, 150));
    send("/n_query", numbers(100, 150));
    std::vector<ReplyArg> run, beside;
    for (int32_t i = 100; i < 200; ++i) {
        run.insert(run.end(), {ReplyArg(i), ReplyArg(i % 2)});
        beside.insert(beside.end(), {ReplyArg(i), ReplyArg(int32_t(299 - i % 40))});
        beside.insert(beside.end(), {ReplyArg(i % 5 ? i : 7777), ReplyArg(int32_t(250 + i % 30))});
    }
    send("/n_run", run);
    send("/n_before", beside);
    send("/n_after", beside);
    send("/n_order", numbers(150, 100, {int32_t(1), int32_t(4)}));
    send("/n_order", numbers(7000, 100, {int32_t(1), int32_t(4)}));
    send("/g_tail", numbers(120, 1, {int32_t(9), int32_t(121), int32_t(9), int32_t(122), int32_t(9)}));
    send("/n_trace", {int32_t(4)});
    send("/g_dumpTree", {int32_t(0), int32_t(1)});
    for (int32_t i = 0; i < 200; ++i) // of a synth, a group, and each other
        send("/sat_new", array(49, {std::string_view("many"), int32_t(2000 + i), int32_t(i % 2),
                                    i < 150 ? int32_t(i % 3 ? 110 : 4) : int32_t(2000 + i % 7), int32_t(1)}));
    send("/sat_new", array(49, {std::string_view("many"), int32_t(2200), int32_t(1), int32_t(0), int32_t(1)}));
    send("/n_set", set);
    send("/n_run", {int32_t(4), int32_t(0), int32_t(110), int32_t(0), int32_t(2003), int32_t(0)});
    send("/g_tail", {int32_t(9), int32_t(4), int32_t(9), int32_t(110), int32_t(9), int32_t(2001)});
    send("/g_queryTree", {int32_t(9), int32_t(1), int32_t(9), int32_t(0)});
    send("/g_dumpTree", {int32_t(9), int32_t(1)});
    send("/n_trace", {int32_t(9)});
    send("/n_free", {int32_t(2000), int32_t(110)});
    send("/s_new", array(49, {std::string_view("many"), int32_t(4), int32_t(4), int32_t(4), int32_t(1)}));
    send("/g_queryTree", {int32_t(9), int32_t(1), int32_t(9), int32_t(0)});
    send("/g_new", {int32_t(4), int32_t(4), int32_t(4)});
    send("/s_noid", numbers(280, 20));
    send("/g_queryTree", {int32_t(0), int32_t(1)});
    std::vector<ReplyArg> buses, ranges;
    for (int32_t i = 0; i < 500; ++i)
        buses.insert(buses.end(), {ReplyArg(int32_t(i * 3)), ReplyArg(float(i))});
    send("/c_set", buses);
    for (int32_t i = 0; i < 20; ++i)
        ranges = numbers(i, 100, [&] {
            ranges.insert(ranges.end(), {ReplyArg(int32_t(i * 50)), ReplyArg(int32_t(100))});
            return ranges;
        }());
    send("/c_setn", ranges);
    send("/c_fill", {int32_t(2000), int32_t(300), 0.25f, int32_t(2100), int32_t(10), 0.5f});
    send("/c_getn", {int32_t(0), int32_t(3000)});
    send("/b_alloc", {int32_t(0), int32_t(4096)});
    buses.insert(buses.begin(), int32_t(0));
    send("/b_set", buses);
    ranges.insert(ranges.begin(), int32_t(0));
    send("/b_setn", ranges);
    send("/b_getn", {int32_t(0), int32_t(0), int32_t(4096)});
    send("/n_free", numbers(110, 20));
    send("/n_free", {int32_t(2), int32_t(9999), int32_t(4)});
    send("/g_deepFree", {int32_t(1), int32_t(6)});
    send("/g_queryTree", {int32_t(0), int32_t(1)});
    const auto wide = definition("wide", 700);
    send("/d_recv", {ReplyArg(std::span<const std::byte>(wide))});
    send("/g_new", {int32_t(9000), int32_t(1), int32_t(0)});
    send("/s_new", {std::string_view("wide"), int32_t(9010), int32_t(1), int32_t(9000)});
    send("/g_queryTree", {int32_t(9000), int32_t(1)});
    send("/n_list", {int32_t(9000)});
    send("/s_query", {int32_t(9010), int32_t(9000)});
    send("/d_list", {});
    send("/s_get", numbers(0, 600, {int32_t(9010)}));
    send("/s_getn",
         {int32_t(9010), int32_t(-3), int32_t(720), std::string_view("c200"), int32_t(300), int32_t(0), int32_t(0)});
    // Each in the one before, and so deep that the way up has to be interrupted, too.
    constexpr int32_t deep = 40'000, first = 10'000;
    for (int32_t i = 0; i < deep; i += 1000) {
        std::vector<ReplyArg> nested;
        for (int32_t id = first + i; id < first + i + 1000; ++id)
            nested.insert(nested.end(), {ReplyArg(id), ReplyArg(int32_t(1)), ReplyArg(id == first ? 0 : id - 1)});
        send("/g_new", nested);
        send("/n_run", {first, int32_t(0)}); // no block has time for so many
    }
    constexpr int32_t last = first + deep - 1;
    constexpr int32_t one = 9001, two = 9002;
    send("/g_new", {one, int32_t(0), int32_t(0), two, int32_t(0), int32_t(0)});
    send("/g_head", {last, one, last, two});
    send("/g_tail", {last, one, last, first, last, two});
    send("/n_after", {two, last, one, last});
    send("/n_before", {two, last, first, last});
    send("/n_order", {int32_t(0), last, one, two, first});
    costs({0, last - 1});
    send("/g_queryTree", {last - 1, int32_t(0)});
    send("/g_freeAll", {int32_t(4), int32_t(0)});
    send("/g_queryTree", {int32_t(0), int32_t(0)});
    send("/d_free", {std::string_view("none"), std::string_view("many"), std::string_view("more")});
    send("/s_new", {std::string_view("many"), int32_t(1000)});
    send("/d_recv", {ReplyArg(std::span<const std::byte>(blob))});
    send("/d_freeAll", {});
    send("/s_new", {std::string_view("many"), int32_t(1000)});
    cycles = bench.engine().status().cycles - before;
    return all;
}

} // namespace

TEST_CASE("commands carried out in pieces answer and do the same as those that are done at once") {
    CommandBench whole, pieces;
    pieces.engine().set_clock(hasty);
    uint64_t few = 0, many = 0;
    const std::string expected = run_all(whole, few);
    CHECK(expected.size() > 30'000);
    CHECK(expected.find("/fail") != std::string::npos);
    // Either may have been interrupted there.
    for (const char* command : {"/g_tail", "/n_before", "/n_order"})
        CHECK(expected.find(std::string(command) + "\", \"a group can't be moved into itself") != std::string::npos);
    CHECK(run_all(pieces, many) == expected);
    CHECK(many > few + 50);
}

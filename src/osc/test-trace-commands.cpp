// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/help-policy.hpp"
#include "engine/schedule/trace.hpp"
#include "osc/test-command-bench.hpp"

#include <chrono>
#include <cstdint>
#include <sstream>
#include <thread>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;

namespace {

const std::string gone_text = "\"No such recording: it isn't the last that was started\" ]\n";

/// What follows the reply's address.
std::vector<std::string> words(const std::string& reply) {
    const std::string head = "[ \"/trace_read.reply\", ";
    REQUIRE(reply.starts_with(head));
    std::istringstream text(reply.substr(head.size()));
    std::vector<std::string> all;
    for (std::string word; text >> word && word != "]";)
        all.push_back(word.ends_with(",") ? word.substr(0, word.size() - 1) : word);
    return all;
}

struct Entry {
    std::string kind, name;
    int thread, count;
    double began, nsec;
};

struct Page {
    std::vector<std::string> head; ///< recording, page, on, more, threads, dropped
    std::vector<Entry> entries;
};

Page read(CommandBench& bench, int32_t recording) {
    const auto all = words(bench("/trace_read", recording));
    REQUIRE(all.size() >= 6);
    Page page{{all.begin(), all.begin() + 6}, {}};
    for (size_t i = 6; i < all.size(); i += 5) {
        REQUIRE(i + 5 <= all.size());
        Entry entry{
            all[i], {}, std::stoi(all[i + 1]), std::stoi(all[i + 4]), std::stod(all[i + 2]), std::stod(all[i + 3])};
        if (entry.kind == "\"job\"") {
            REQUIRE(i + 5 < all.size());
            entry.name = all[i++ + 5];
        }
        page.entries.push_back(entry);
    }
    return page;
}

std::string started(int number) {
    return "[ \"/done\", \"/trace_start\", " + std::to_string(number) + " ]\n";
}

constexpr int played = 65; // of which one is in no batch

void play(CommandBench& bench, const std::string& name) {
    const auto bytes = definition(name, 1);
    REQUIRE(bench("/d_recv", std::span<const std::byte>(bytes)) == "[ \"/done\", \"/d_recv\" ]\n");
    for (int32_t i = 0; i < played; ++i)
        bench("/s_new", std::string_view(name), 100 + i, 1, 0);
}

void two_threads(Settings& settings) {
    settings.threads = 2;
    // Helpers are asked whatever there is to do.
    static const HelpPolicy policy{.waking_load = 0, .longest_wait = INT64_MAX, .least_work = 0};
    settings.help = &policy;
}

} // namespace

TEST_CASE("cycles and walks are told, until the end and what is left then") {
    CommandBench bench;
    REQUIRE(bench("/trace_start") == started(1));
    const Page none = read(bench, 1);
    CHECK(none.head ==
          std::vector<std::string>{"1", "0", "1", "0", std::to_string(bench.engine().settings().threads), "0"});
    CHECK(none.entries.empty());
    bench.render();
    bench.render();
    const Page two = read(bench, 1);
    CHECK(std::vector(two.head.begin() + 1, two.head.begin() + 4) == std::vector<std::string>{"1", "1", "0"});
    REQUIRE(two.entries.size() == 4);
    for (size_t i = 0; i < 4; i += 2) {
        const Entry &walk = two.entries[i], &cycle = two.entries[i + 1];
        CHECK(walk.kind == "\"walk\"");
        CHECK(walk.count == int(i / 2));
        CHECK(cycle.kind == "\"cycle\"");
        CHECK(cycle.count == 64);
        CHECK(cycle.began >= 0);
        CHECK(cycle.began <= walk.began);
        CHECK(walk.began + walk.nsec <= cycle.began + cycle.nsec);
    }
    CHECK(two.entries[3].began > two.entries[1].began + two.entries[1].nsec);
    bench.render();
    CHECK(bench("/trace_stop", 1).empty());
    bench.render();
    const Page last = read(bench, 1);
    CHECK(last.head[2] == "0");
    CHECK(last.entries.size() == 2);
}

TEST_CASE("jobs are told with the SynthDef's name and the voices, also when it is gone") {
    CommandBench bench({}, two_threads);
    play(bench, "one");
    for (int i = 0; i < 20; ++i)
        bench.render();
    REQUIRE(bench("/trace_start") == started(1));
    // On a busy machine a helper may come late.
    const uint64_t ahead = bench.engine().status().computed_ahead;
    int blocks = 0;
    for (; blocks < 20 || (bench.engine().status().computed_ahead == ahead && blocks < 2000); ++blocks) {
        bench.render();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bench("/g_freeAll", 0);
    bench("/d_free", std::string_view("one"));
    int walks = 0, voices = 0, by_helper = 0;
    for (bool more = true; more;) {
        const Page page = read(bench, 1);
        more = page.head[3] == "1";
        for (const Entry& entry : page.entries) {
            walks += entry.kind == "\"walk\"";
            if (entry.kind != "\"job\"")
                continue;
            CHECK(entry.name == "\"one\"");
            CHECK(entry.thread <= 1);
            voices += entry.count;
            by_helper += entry.thread;
        }
    }
    CHECK(walks == blocks);
    CHECK(voices == blocks * played);
    CHECK(by_helper > 0);
}

TEST_CASE("much is told in pages, each of a bounded size, and none of it twice") {
    CommandBench bench({}, two_threads);
    play(bench, std::string(200, 'x'));
    REQUIRE(bench("/trace_start") == started(1));
    for (int i = 0; i < 200; ++i)
        bench.render();
    int pages = 0, walks = 0;
    for (bool more = true; more; ++pages) {
        const Page page = read(bench, 1);
        CHECK(page.head[1] == std::to_string(pages));
        CHECK(page.entries.size() <= 32768 / 40 + 1);
        more = page.head[3] == "1";
        for (const Entry& entry : page.entries) {
            walks += entry.kind == "\"walk\"";
            if (entry.kind == "\"walk\"")
                CHECK(entry.count == walks - 1);
            else if (entry.kind == "\"job\"")
                CHECK(entry.name.size() == TraceRecord::most_name_bytes + 2);
        }
    }
    CHECK(pages > 1);
    CHECK(walks == 200);
}

TEST_CASE("what finds no room is counted") {
    CommandBench bench;
    REQUIRE(bench("/trace_start") == started(1));
    for (size_t i = 0; i < Trace::records_a_thread / 2 + 50; ++i)
        bench.render();
    CHECK(read(bench, 1).head[5] == "100");
}

TEST_CASE("one client at a time, and only the last recording") {
    CommandBench bench;
    REQUIRE(bench("/trace_start") == started(1));
    CHECK(bench("/trace_start") == "[ \"/fail\", \"/trace_start\", \"Another client records\" ]\n");
    for (const int32_t number : {0, 2, -1, 2147483647}) {
        CHECK(bench("/trace_read", number) == "[ \"/fail\", \"/trace_read\", " + gone_text);
        CHECK(bench("/trace_stop", number) == "[ \"/fail\", \"/trace_stop\", " + gone_text);
    }
    bench.render();
    CHECK(read(bench, 1).entries.size() == 2);
    CHECK(bench("/trace_stop", 1).empty());
    CHECK(bench("/trace_stop", 1).empty());
    REQUIRE(bench("/trace_start") == started(2));
    CHECK(bench("/trace_read", 1) == "[ \"/fail\", \"/trace_read\", " + gone_text);
    CHECK(read(bench, 2).head[1] == "0");
    CHECK(bench("/error", 0).empty());
    CHECK(bench("/trace_read", 1).empty());
    CHECK(bench("/trace_stop", 1).empty());
    CHECK(bench("/trace_read").empty());
}

TEST_CASE("without a number") {
    CommandBench bench;
    CHECK(bench("/trace_read") == "[ \"/fail\", \"/trace_read\", \"wrong argument type\" ]\n");
    CHECK(bench("/trace_stop") == "[ \"/fail\", \"/trace_stop\", \"wrong argument type\" ]\n");
    CHECK(bench("/trace_read", 1) == "[ \"/fail\", \"/trace_read\", " + gone_text);
    CHECK(bench("/trace_read", std::string_view("one")) == "[ \"/fail\", \"/trace_read\", " + gone_text);
}

TEST_CASE("a client that vanishes lets others record") {
    static int64_t now = 1'000;
    CommandBench bench;
    bench.engine().set_clock({[](void*) { return now += 100; }});
    REQUIRE(bench("/trace_start") == started(1));
    now += Trace::patience - 100'000;
    bench.render();
    CHECK(bench("/trace_start") == "[ \"/fail\", \"/trace_start\", \"Another client records\" ]\n");
    CHECK(read(bench, 1).head[2] == "1");
    now += Trace::patience;
    bench.render();
    CHECK(read(bench, 1).head[2] == "0");
    REQUIRE(bench("/trace_start") == started(2));
    now += Trace::patience;
    REQUIRE(bench("/trace_start") == started(3));
}

TEST_CASE("offline nothing is recorded") {
    CommandBench bench({}, [](Settings& settings) { settings.real_time = false; });
    CHECK(bench("/trace_start") == "[ \"/fail\", \"/trace_start\", \"Only what plays is recorded\" ]\n");
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/bindings.hpp"
#include "osc/packet-binding.hpp"
#include "osc/test-command-bench.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;

namespace {

constexpr size_t largest_page = 40'000; ///< as text, which is longer than on the wire

void define(CommandBench& bench, const std::string& name, int controls) {
    const auto bytes = definition(name, controls);
    REQUIRE(bench("/d_recv", std::span<const std::byte>(bytes)) == "[ \"/done\", \"/d_recv\" ]\n");
}

std::string run(CommandBench& bench, const std::string& command, const std::vector<int32_t>& args) {
    return bench.run(CommandBench::message(command, {args.begin(), args.end()}));
}

std::string reply_to(const std::string& command, const std::string& rest) {
    return "[ \"" + command + ".reply\", " + rest + " ]\n";
}

/// The arguments of one reply, texts with their quotes.
std::vector<std::string> words(const std::string& reply) {
    std::istringstream text(reply.substr(std::min(reply.find("\", "), reply.size() - 3) + 3));
    std::vector<std::string> all;
    for (std::string word; text >> word && word != "]";)
        all.push_back(word.ends_with(",") ? word.substr(0, word.size() - 1) : word);
    return all;
}

std::vector<int32_t> next(const std::string& reply) {
    const auto all = words(reply);
    std::vector<int32_t> places;
    for (auto at = std::find(all.begin(), all.end(), "\"next\""); at != all.end() && ++at != all.end();)
        if (!at->starts_with('"'))
            places.push_back(std::stoi(*at));
    return places;
}

/// Calls take(words of a page) with each page of a list, up to its end. `before`: what stands before the words of
/// "next".
template <class Take>
int each_page(CommandBench& bench, const std::string& command, std::vector<int32_t> before, Take take) {
    int pages = 0;
    for (std::vector<int32_t> args = before; pages < 10'000;) {
        const std::string reply = run(bench, command, args);
        REQUIRE(reply.starts_with("[ \"" + command + ".reply\""));
        CHECK(reply.size() < largest_page);
        take(words(reply));
        ++pages;
        const auto places = next(reply);
        if (places.empty())
            return pages;
        args = before;
        args.insert(args.end(), places.begin(), places.end());
    }
    FAIL("a list without an end");
    return pages;
}

/// The values of a synth's controls, or a SynthDef's, from several entries. `head`: words of an entry before them.
void gather(const std::vector<std::string>& page, size_t at, size_t head, std::vector<std::string>& values) {
    const size_t first = size_t(std::stoi(page[at + head + 1])), told = size_t(std::stoi(page[at + head + 2]));
    CHECK(first == values.size());
    for (size_t i = 0; i < told; ++i) {
        CHECK(page[at + head + 3 + 2 * i] == "\"c" + std::to_string(first + i) + "\"");
        values.push_back(page[at + head + 4 + 2 * i]);
    }
}

} // namespace

TEST_CASE("/n_list tells of groups and synths, with what their controls have") {
    CommandBench bench;
    define(bench, "one", 2);
    define(bench, "none", 0);
    bench("/g_new", 10, 1, 0);
    bench("/p_new", 11, 0, 10);
    bench("/s_new", "one", 100, 1, 10, "c0", 0.25f);
    bench("/s_new", "none", 101, 1, 0);
    bench("/n_map", 100, 1, 5);
    bench("/n_run", 100, 0, 11, 0);
    const std::string tree =
        "\"group\", 0, -1, 1, 0, \"group\", 10, 0, 1, 0, \"group\", 11, 10, 0, 1, \"synth\", 100, 10, 0, "
        "\"one\", 2, 0, 2, \"c0\", 0.25, \"c1\", \"c5\", \"synth\", 101, 0, 1, \"none\", 0, 0, 0";
    CHECK(run(bench, "/n_list", {}) == reply_to("/n_list", "0, 0, 0, " + tree));
    CHECK(run(bench, "/n_list", {0}) == reply_to("/n_list", "0, 0, 0, " + tree));
    CHECK(run(bench, "/n_list", {11}) == reply_to("/n_list", "11, 11, 0, \"group\", 11, 10, 0, 1"));
    CHECK(run(bench, "/n_list", {0, 77, 0, 101, 0}) ==
          reply_to("/n_list", "0, 101, 0, \"synth\", 101, 0, 1, \"none\", 0, 0, 0"));
    CHECK(run(bench, "/n_list", {0, 10, 1}) ==
          reply_to("/n_list", "0, 10, 1, \"synth\", 101, 0, 1, \"none\", 0, 0, 0"));
    // From one of the controls on; a synth that doesn't have that one begins anew.
    CHECK(run(bench, "/n_list", {10, 100, -1}) ==
          reply_to("/n_list", "10, 100, -1, \"synth\", 100, 10, 0, \"one\", 2, 1, 1, \"c1\", \"c5\""));
    for (const int32_t far : {-2, -1000, INT32_MIN})
        CHECK(run(bench, "/n_list", {10, 100, far}) ==
              reply_to("/n_list", "10, 100, " + std::to_string(far) +
                                      ", \"synth\", 100, 10, 0, \"one\", 2, 0, 2, \"c0\", 0.25, \"c1\", \"c5\""));
    CHECK(run(bench, "/n_list", {99}) == "[ \"/fail\", \"/n_list\", \"Group 99 not found\" ]\n");
    CHECK(run(bench, "/n_list", {100}) == "[ \"/fail\", \"/n_list\", \"Group 100 not found\" ]\n");
    CHECK(run(bench, "/n_list", {0, 99, 0, 98, 0}) == "[ \"/fail\", \"/n_list\", \"Node 99 not found\" ]\n");
}

TEST_CASE("a synth that would end by itself is told of, too, and a satellite") {
    CommandBench bench;
    define(bench, "one", 1);
    bench("/s_new", "one", 100, 1, 0);
    bench("/sat_new", "one", 101, 0, 100, "c0", 3.f);
    const std::string told = run(bench, "/n_list", {});
    const size_t satellite = told.find("\"synth\", 101, 0, 1, \"one\", 1, 0, 1, \"c0\", 3,");
    const size_t reference = told.find("\"synth\", 100, 0,");
    CHECK(reference != told.npos);
    CHECK(satellite < reference);
}

TEST_CASE("/n_status tells of each node that is named, and of those that aren't there") {
    CommandBench bench;
    define(bench, "one", 1);
    bench("/g_new", 10, 1, 0);
    bench("/s_new", "one", 100, 1, 10);
    bench("/n_run", 100, 0);
    CHECK(run(bench, "/n_status", {100, 77, 10, -5}) ==
          reply_to("/n_status",
                   "\"synth\", 100, 10, 0, \"one\", 1, 0, 1, \"c0\", 0, \"none\", 77, \"group\", 10, 0, 1, 0, "
                   "\"none\", -5"));
    CHECK(run(bench, "/n_status", {}) == "[ \"/n_status.reply\", ]\n");
    CHECK(bench("/n_status", "hh", 0).find("\"synth\", 100,") != std::string::npos);

    // More than a page tells how many it has done.
    std::vector<int32_t> many;
    for (int32_t i = 0; i < 5000; ++i)
        many.push_back(i % 2 ? 100 : 3000 + i);
    size_t synths = 0, missing = 0;
    int pages = 0;
    while (!many.empty()) {
        const std::string reply = run(bench, "/n_status", many);
        CHECK(reply.size() < largest_page);
        const auto page = words(reply);
        synths += size_t(std::count(page.begin(), page.end(), "\"synth\""));
        missing += size_t(std::count(page.begin(), page.end(), "\"none\""));
        const auto rest = next(reply);
        many.erase(many.begin(), rest.empty() ? many.end() : many.begin() + rest.at(0));
        ++pages;
    }
    CHECK(synths == 2500);
    CHECK(missing == 2500);
    CHECK(pages > 2);
}

TEST_CASE("/s_query answers for each synth as RFC 5 has it, and refuses each node that is none") {
    CommandBench bench;
    define(bench, "one", 2);
    define(bench, "vast", 4000);
    bench("/s_new", "one", 100, 1, 0, "c1", 0.5f);
    bench("/s_new", "vast", 101, 1, 0);
    bench("/n_map", 100, 0, 7);
    const std::string info = "[ \"/s_info\", 100, \"one\", 2, \"c0\", \"c7\", \"c1\", 0.5 ]\n";
    CHECK(run(bench, "/s_query", {100}) == info);
    CHECK(run(bench, "/s_query", {100, 0, 77, 101, 100}) ==
          info + "[ \"/fail\", \"/s_query\", \"Synth not found\", 0 ]\n" +
              "[ \"/fail\", \"/s_query\", \"Synth not found\", 77 ]\n" +
              "[ \"/fail\", \"/s_query\", \"buffer overflow\", 101 ]\n" + info);
    CHECK(run(bench, "/s_query", {}) == "");
    // What is too much at once is refused one by one.
    define(bench, "wide", 1500);
    bench("/s_new", "wide", 102, 1, 0);
    const std::string many = run(bench, "/s_query", std::vector<int32_t>(100, 102));
    size_t told = 0, refused = 0;
    for (size_t at = 0; (at = many.find("[ \"/s_info\", 102, \"wide\", 1500, ", at)) != many.npos; ++at)
        ++told;
    for (size_t at = 0; (at = many.find("\"buffer overflow\", 102 ]", at)) != many.npos; ++at)
        ++refused;
    CHECK(told >= 2);
    CHECK(told + refused == 100);
}

TEST_CASE("a large tree is told whole, in pages that fit into a datagram, synths with thousands of controls among it") {
    CommandBench bench;
    define(bench, std::string(255, 'x'), 3);
    define(bench, "vast", 3000);
    int32_t id = 1000;
    for (int i = 0; i < 2000; ++i, ++id)
        bench("/g_new", id, 1, i ? id - 1 : 0);
    for (int i = 0; i < 2000; ++i, ++id)
        bench("/s_new", std::string(255, 'x'), id, 1, i % 2 ? 0 : 2999, "c2", float(id));
    bench("/s_new", "vast", 100, 1, 0, "c2999", 0.5f);
    std::set<int32_t> groups;
    std::map<int32_t, std::vector<std::string>> controls;
    const int pages = each_page(bench, "/n_list", {0}, [&](const std::vector<std::string>& page) {
        for (size_t i = 0; i < page.size(); ++i)
            if (page[i] == "\"group\"")
                CHECK(groups.insert(std::stoi(page[i + 1])).second);
            else if (page[i] == "\"synth\"")
                gather(page, i, 5, controls[std::stoi(page[i + 1])]);
    });
    CHECK(pages > 10);
    CHECK(groups.size() == 2001);
    REQUIRE(controls.size() == 2001);
    CHECK(controls[100].size() == 3000);
    CHECK(controls[100][1234] == "1234");
    CHECK(controls[100][2999] == "0.5");
    for (int32_t synth = 3000; synth < 5000; ++synth)
        CHECK(controls[synth] == std::vector<std::string>{"0", "1", std::to_string(synth)});
}

TEST_CASE("/d_list tells of all SynthDefs, their controls and what these begin with") {
    CommandBench bench;
    CHECK(run(bench, "/d_list", {}) == reply_to("/d_list", "0, 0, 0"));
    define(bench, "vast", 3000);
    for (int i = 0; i < 300; ++i)
        define(bench, "def" + std::to_string(i), 4);
    bench("/s_new", "def7", 100, 1, 0, "c0", 9.f);
    bench("/s_new", "def7", 101, 1, 0);
    std::map<std::string, std::vector<std::string>> defaults;
    std::map<std::string, std::string> synths;
    const auto take = [&](const std::vector<std::string>& page) {
        for (size_t i = 0; i < page.size(); ++i) {
            if (page[i] != "\"synthdef\"")
                continue;
            synths[page[i + 1]] = page[i + 2];
            CHECK(page[i + 3] == "1"); // units
            CHECK(page[i + 4] == "1"); // native
            gather(page, i, 5, defaults[page[i + 1]]);
        }
    };
    CHECK(each_page(bench, "/d_list", {}, take) > 3);
    CHECK(defaults.size() == 301);
    CHECK(defaults["\"vast\""].size() == 3000);
    CHECK(defaults["\"def7\""] == std::vector<std::string>{"0", "1", "2", "3"});
    CHECK(synths["\"def7\""] == "2");
    CHECK(synths["\"def8\""] == "0");
    bench("/d_free", "def7");
    defaults.clear();
    each_page(bench, "/d_list", {}, take);
    CHECK(defaults.size() == 300);
    CHECK_FALSE(defaults.contains("\"def7\"")); // synths of it play on, but /s_new doesn't find it
    // Places of no page.
    for (const int32_t wild : {-1, 77, 1023, 1024, INT32_MAX, INT32_MIN})
        for (const int32_t other : {-1, 0, 5, INT32_MAX})
            CHECK(run(bench, "/d_list", {wild, other, other}).starts_with("[ \"/d_list.reply\""));
}

TEST_CASE("/b_list tells of the buffers that there are") {
    CommandBench bench({}, [](Settings& settings) { settings.buffers = 200'000; });
    CHECK(next(run(bench, "/b_list", {})).size() == 1); // a page looks at fewer than there are
    bench("/b_alloc", 3, 100, 2);
    bench("/b_alloc", 150'000, 7);
    bench("/b_setSampleRate", 3, 44100.f);
    std::string all;
    each_page(bench, "/b_list", {}, [&](const std::vector<std::string>& page) {
        for (const std::string& word : page)
            all += word + " ";
    });
    CHECK(all.find("\"buffer\" 3 100 2 44100 0 ") != std::string::npos);
    CHECK(all.find("\"buffer\" 150000 7 1 48000 0 ") != std::string::npos);
    CHECK(run(bench, "/b_list", {150'001}) == reply_to("/b_list", "150001"));
    for (const int32_t wild : {-1, 200'000, INT32_MAX, INT32_MIN})
        CHECK(run(bench, "/b_list", {wild}).starts_with("[ \"/b_list.reply\""));
}

TEST_CASE("/bind_list tells of bindings as they were made") {
    CommandBench bench;
    CHECK(run(bench, "/bind_list", {}) == reply_to("/bind_list", "0, 0"));
    bench("/bind_keys", 5, "bass", 0, 0, "channel", 3, "set", "pan", 0.5f);
    bench("/bind_command", 2, "trigger", "id", 1, "/c_set", 5, "$1");
    std::unique_ptr<Binding> own = std::make_unique<PacketBinding>(bench.services());
    REQUIRE(bench.engine().bindings().put(own));
    bench("/bind_midi", 9);
    CHECK(run(bench, "/bind_list", {}) ==
          reply_to("/bind_list",
                   "0, 0, \"binding\", 5, 9, 0, 9, \"/bind_keys\", \"bass\", 0, 0, \"channel\", 3, \"set\", \"pan\", "
                   "0.5, \"binding\", 2, 7, 0, 7, \"/bind_command\", \"trigger\", \"id\", 1, \"/c_set\", 5, "
                   "\"$1\", \"binding\", 9, 1, 0, 1, \"/bind_midi\""));
    // Those with many words go over several entries and pages; a long word is cut.
    const std::string longest(1024, 'x');
    for (int32_t id = 100; id < 110; ++id) {
        std::vector<ReplyArg> args{id, std::string_view("trigger"), std::string_view("/n_set"), int32_t(1)};
        const std::string longer(1500, 'x');
        for (int i = 0; i < 20; ++i)
            args.insert(args.end(), {ReplyArg(std::string_view(longer)), ReplyArg(int32_t(i))});
        REQUIRE(bench.run(CommandBench::message("/bind_command", args)) == "");
    }
    std::map<int, size_t> counts;
    CHECK(each_page(bench, "/bind_list", {}, [&](const std::vector<std::string>& page) {
              for (size_t i = 0; i < page.size(); ++i) {
                  if (page[i] == "\"binding\"") {
                      CHECK(size_t(std::stoi(page[i + 3])) == counts[std::stoi(page[i + 1])]);
                      counts[std::stoi(page[i + 1])] += size_t(std::stoi(page[i + 4]));
                  }
                  CHECK(page[i].size() <= longest.size() + 2);
              }
          }) > 5);
    CHECK(counts.size() == 13);
    for (int id = 100; id < 110; ++id)
        CHECK(counts[id] == 44);
    for (const int32_t wild : {-1, 12, 13, INT32_MAX, INT32_MIN})
        CHECK(run(bench, "/bind_list", {wild, wild}).starts_with("[ \"/bind_list.reply\""));
}

TEST_CASE("pages go on where they were to, though what was told before has gone") {
    CommandBench bench;
    bench("/bind_midi", 5);
    bench("/bind_midi", 6);
    bench("/bind_midi", 7);
    const std::string last = "\"binding\", 7, 1, 0, 1, \"/bind_midi\"";
    CHECK(run(bench, "/bind_list", {2, 0, 7}) == reply_to("/bind_list", "2, 0, " + last));
    bench("/bind_free", 5);
    CHECK(run(bench, "/bind_list", {2, 0, 7}) == reply_to("/bind_list", "2, 0, " + last));
    bench("/bind_free", 7);
    CHECK(run(bench, "/bind_list", {2, 0, 7}) ==
          reply_to("/bind_list", "2, 0, \"binding\", 6, 1, 0, 1, \"/bind_midi\""));
    // Of SynthDefs the name says which of its chain it is.
    define(bench, "one", 2);
    define(bench, "vast", 9000);
    std::string reply = run(bench, "/d_list", {});
    while (reply.find("\"synthdef\", \"vast\"") == reply.npos)
        reply = run(bench, "/d_list", next(reply));
    REQUIRE(reply.ends_with(", \"vast\" ]\n"));
    const auto at = next(reply);
    REQUIRE(at.size() == 3);
    const auto ask = [&](int32_t which, std::string_view name) {
        return bench.run(CommandBench::message("/d_list", {at[0], which, at[2], name}));
    };
    const std::string on = "\"synthdef\", \"vast\", 0, 1, 1, 9000, ";
    CHECK(ask(at[1], "vast").find(on + std::to_string(at[2])) != reply.npos);
    CHECK(ask(at[1] + 1, "vast").find(on + std::to_string(at[2])) != reply.npos);
    CHECK(ask(at[1] + 1, "gone").find(on + "0, ") != reply.npos);
    // A node that has left the group is passed over; one that follows it is not.
    bench("/g_new", 10, 1, 0, 20, 1, 0);
    for (const int32_t id : {11, 12, 13})
        bench("/g_new", id, 1, 10);
    const std::vector<int32_t> places{0, 11, 0, 12, 0, 13, 0, 10, 1};
    CHECK(run(bench, "/n_list", places).starts_with("[ \"/n_list.reply\", 0, 11, 0, \"group\", 11, 10"));
    bench("/g_tail", 20, 11);
    CHECK(run(bench, "/n_list", places).starts_with("[ \"/n_list.reply\", 0, 12, 0, \"group\", 12, 10"));
    bench("/n_free", 10);
    CHECK(run(bench, "/n_list", places) == "[ \"/fail\", \"/n_list\", \"Node 11 not found\" ]\n");
}

TEST_CASE("/server_info says which server it is and how it does") {
    CommandBench bench;
    Driver& driver = bench.services().driver;
    std::strcpy(driver.name.data(), "api.alsa.0");
    driver.id = 33;
    driver.quantum = 1024;
    driver.rate = 44100;
    bench.engine().status().cuts = uint64_t(1) << 40;
    bench("/g_new", 1, 0, 0);
    const auto page = words(bench("/server_info"));
    REQUIRE(page.size() % 2 == 0);
    std::map<std::string, std::string> figures;
    for (size_t i = 0; i < page.size(); i += 2)
        CHECK(figures.emplace(page[i], page[i + 1]).second);
    CHECK(figures["\"program\""] == "\"pw-scsynth\"");
    CHECK(figures["\"driver\""] == "\"api.alsa.0\"");
    CHECK(figures["\"driver-node\""] == "33");
    CHECK(figures["\"quantum\""] == "1024");
    CHECK(figures["\"graph-rate\""] == "44100");
    CHECK(figures["\"rate\""] == "48000");
    CHECK(figures["\"block\""] == "64");
    CHECK(figures["\"buffers\""] == "8");
    CHECK(figures["\"groups\""] == "2");
    CHECK(figures["\"cuts\""] == "2147483647");
    CHECK(std::stoi(figures["\"memory-free\""]) < std::stoi(figures["\"memory\""]));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/query.hpp"

#include "cli/status/json.hpp"
#include "cli/status/text.hpp"
#include "cli/top/test-reply.hpp"
#include "engine/base/printable.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <climits>
#include <cmath>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace scs;
using namespace scs::status;
using test::Args;
using test::reply;
using Step = Query::Step;

namespace {

osc::ReplyArg operator""_s(const char* text, size_t size) {
    return std::string_view(text, size);
}

osc::ReplyArg i(int32_t number) {
    return number;
}

Step give(Query& query, const char* address, const Args& args) {
    return query.take(reply(address, args).messages()[0]);
}

std::string asked(const Query& query) {
    osc::ReplyComposer composer;
    const auto bytes = composer.compose(query.address(), query.arguments());
    REQUIRE(bytes);
    auto packet = osc::decode(bytes.value());
    REQUIRE(packet);
    return osc::to_text(packet.value());
}

/// Reads JSON, and knows only what is right in it.
class JsonReader {
public:
    explicit JsonReader(std::string_view text) : rest_(text) {}
    bool all() { return value() && rest_.empty(); }

private:
    bool take(std::string_view word) {
        const bool there = rest_.starts_with(word);
        rest_.remove_prefix(there ? word.size() : 0);
        return there;
    }
    bool character() {
        if (take("\\u"))
            return std::string_view("0123456789abcdef").find(rest_[3]) != rest_.npos && take("00") &&
                   (rest_.remove_prefix(2), true);
        if (take("\\\"") || take("\\\\"))
            return true;
        const size_t bytes = rest_[0] == '\\' ? 0 : printable_bytes(rest_);
        rest_.remove_prefix(bytes);
        return bytes > 0;
    }
    bool string() {
        if (!take("\""))
            return false;
        while (rest_.size() > 6 && rest_[0] != '"') // the object's end follows
            if (!character())
                return false;
        return take("\"");
    }
    bool number() {
        double read = 0;
        const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), read);
        rest_.remove_prefix(size_t(end.ptr - rest_.data()));
        return end.ec == std::errc() && std::isfinite(read);
    }
    bool items(std::string_view end, bool keys) {
        take("\n");
        if (take(end))
            return true;
        do {
            take("\n");
            if ((keys && !(string() && take(":"))) || !value())
                return false;
        } while (take(","));
        take("\n");
        return take(end);
    }
    bool value() {
        if (take("{"))
            return items("}", true);
        if (take("["))
            return items("]", false);
        return take("null") || take("true") || take("false") || (rest_.starts_with('"') ? string() : number());
    }

    std::string_view rest_;
};

/// Whether its lines have nothing but printable characters.
bool harmless(std::string text) {
    std::erase(text, '\n');
    return is_printable(text);
}

/// A query that is at its list of nodes.
Query at_nodes() {
    Query query;
    REQUIRE(give(query, "/server_info.reply", {"version"_s, "1"_s, "quantum"_s, i(64), "rate"_s, 48000.0}) ==
            Step::ask);
    return query;
}

/// The same at SynthDefs.
Query at_synthdefs() {
    Query query = at_nodes();
    REQUIRE(give(query, "/n_list.reply", {i(0), i(0), i(0), "group"_s, i(0), i(-1), i(1), i(0)}) == Step::ask);
    return query;
}

} // namespace

TEST_CASE("list after list is asked for, and told") {
    Query query;
    CHECK(asked(query) == "[ \"/server_info\", ]\n");
    CHECK(give(query, "/server_info.reply", {"version"_s, "1"_s, "quantum"_s, i(64), "rate"_s, 48000.0}) == Step::ask);
    CHECK(asked(query) == "[ \"/n_list\", 0 ]\n");
    CHECK(give(query, "/n_list.reply", {i(0),  i(0),   i(0),     "group"_s, i(0),  i(-1), i(1), i(0),  "synth"_s,
                                        i(7),  i(0),   i(0),     "one"_s,   i(3),  i(0),  i(2), "a"_s, 0.5f,
                                        "b"_s, "c4"_s, "next"_s, i(7),      i(-2), i(0),  i(1)}) == Step::ask);
    CHECK(asked(query) == "[ \"/n_list\", 0, 7, -2, 0, 1 ]\n");
    CHECK(give(query, "/n_list.reply",
               {i(0), i(7), i(-2), "synth"_s, i(7), i(0), i(0), "one"_s, i(3), i(2), i(1), i(2), 2.f}) == Step::ask);
    CHECK(asked(query) == "[ \"/d_list\", ]\n");
    CHECK(give(query, "/d_list.reply", {i(0), i(0),  i(0),         "synthdef"_s, "two"_s, i(0), i(5), i(0), i(0),
                                        i(0), i(0),  "synthdef"_s, "one"_s,      i(1),    i(9), i(1), i(2), i(0),
                                        i(1), "a"_s, 1.f,          "next"_s,     i(77),   i(0), i(1)}) == Step::ask);
    CHECK(asked(query) == "[ \"/d_list\", 77, 0, 1 ]\n");
    CHECK(give(query, "/d_list.reply",
               {i(77), i(0), i(1), "synthdef"_s, "one"_s, i(1), i(9), i(1), i(2), i(1), i(1), "b"_s, 2.f}) ==
          Step::ask);
    CHECK(asked(query) == "[ \"/b_list\", ]\n");
    CHECK(give(query, "/b_list.reply", {i(0), "buffer"_s, i(3), i(100), i(2), 44100.0, i(1), "next"_s, i(64)}) ==
          Step::ask);
    CHECK(asked(query) == "[ \"/b_list\", 64 ]\n");
    CHECK(give(query, "/b_list.reply", {i(64)}) == Step::ask);
    CHECK(asked(query) == "[ \"/bind_list\", ]\n");
    CHECK(give(query, "/bind_list.reply",
               {i(0), i(0), "binding"_s, i(5), i(3), i(0), i(2), "/bind_keys"_s, "bass"_s, "next"_s, i(0), i(2)}) ==
          Step::ask);
    CHECK(give(query, "/bind_list.reply", {i(0), i(2), "binding"_s, i(5), i(3), i(2), i(1), i(4)}) == Step::done);
    CHECK(give(query, "/bind_list.reply", {i(0), i(2)}) == Step::ignored);

    const Contents& contents = query.contents();
    CHECK(contents.whole);
    CHECK(contents.figures.at("version") == Value("1"));
    CHECK(contents.figures.at("quantum") == Value(64));
    CHECK(contents.figures.at("rate") == Value(48000.0));
    REQUIRE(contents.nodes.size() == 2);
    CHECK(contents.nodes[0].is_group);
    CHECK(contents.nodes[0].parent == -1);
    const Node& synth = contents.nodes[1];
    CHECK_FALSE(synth.runs);
    CHECK(synth.synthdef == "one");
    REQUIRE(synth.controls.size() == 3);
    CHECK(synth.controls[0].value == Value(0.5f));
    CHECK(synth.controls[1].value == Value("c4"));
    CHECK(synth.controls[2].name == "");
    REQUIRE(contents.synthdefs.size() == 2);
    CHECK(contents.synthdefs[0].name == "one");
    CHECK(contents.synthdefs[0].controls.size() == 2);
    CHECK(contents.synthdefs[0].native);
    CHECK(contents.synthdefs[1].units == 5);
    REQUIRE(contents.buffers.size() == 1);
    CHECK(contents.buffers[0].rate == 44100);
    CHECK(contents.buffers[0].streams);
    REQUIRE(contents.bindings.size() == 1);
    CHECK(contents.bindings[0].words == std::vector<Value>{"/bind_keys", "bass", 4});
}

TEST_CASE("what was asked for twice, and what is other clients', counts for nothing") {
    Query query = at_nodes();
    CHECK(give(query, "/server_info.reply", {"version"_s, "2"_s}) == Step::ignored);
    CHECK(give(query, "/n_go", {i(1)}) == Step::ignored);
    CHECK(give(query, "/fail", {"/s_new"_s, "SynthDef not found"_s}) == Step::ignored);
    const Args first{i(0), i(0), i(0), "group"_s, i(0), i(-1), i(1), i(0), "next"_s, i(7), i(0), i(8), i(0)};
    CHECK(give(query, "/n_list.reply", first) == Step::ask);
    CHECK(give(query, "/n_list.reply", first) == Step::ignored);
    CHECK(give(query, "/n_list.reply", {i(0), i(9), i(0)}) == Step::ignored);
    CHECK(give(query, "/n_list.reply", {i(5), i(7), i(0)}) == Step::ignored);
    CHECK(give(query, "/n_list.reply", {i(0), i(8), i(0)}) == Step::ask);
    CHECK(query.contents().nodes.size() == 1);
    CHECK(give(query, "/d_list.reply", {i(1), i(0), i(0)}) == Step::ignored);
}

TEST_CASE("a node that was told twice is there once, where it was last") {
    Query query = at_nodes();
    CHECK(give(query, "/n_list.reply",
               {i(0), i(0),      i(0), "group"_s, i(0), i(-1), i(1),      i(0), "group"_s, i(5), i(0), i(1),
                i(0), "group"_s, i(6), i(0),      i(1), i(0),  "group"_s, i(5), i(6),      i(1), i(0)}) == Step::ask);
    REQUIRE(query.contents().nodes.size() == 3);
    CHECK(query.contents().nodes[1].id == 6);
    CHECK(query.contents().nodes[2].parent == 6);
}

TEST_CASE("the tree is asked for anew if a place is lost, and at last left as it is known") {
    Query query = at_nodes();
    const Args first{i(0), i(0), i(0), "group"_s, i(0), i(-1), i(1), i(0), "next"_s, i(7), i(0), i(0), i(1)};
    for (int restart = 0; restart < 3; ++restart) {
        REQUIRE(give(query, "/n_list.reply", first) == Step::ask);
        CHECK(give(query, "/fail", {"/n_list"_s, "Node 7 not found"_s}) == Step::ask);
        CHECK(asked(query) == "[ \"/n_list\", 0 ]\n");
        CHECK(query.contents().nodes.empty());
    }
    REQUIRE(give(query, "/n_list.reply", first) == Step::ask);
    CHECK(give(query, "/fail", {"/n_list"_s, "Node 7 not found"_s}) == Step::ask);
    CHECK(asked(query) == "[ \"/d_list\", ]\n");
    CHECK_FALSE(query.contents().whole);
    CHECK(query.contents().nodes.size() == 1);
}

TEST_CASE("the same if all the next ones have gone, and more may have followed") {
    Query query = at_nodes();
    Args first{i(0), i(0), i(0), "group"_s, i(0), i(-1), i(1), i(0), "next"_s};
    for (int32_t id = 7; id < 7 + 15; ++id)
        first.insert(first.end(), {i(id), i(0)});
    first.insert(first.end(), {i(0), i(1)});
    for (int restart = 0; restart < 3; ++restart) {
        REQUIRE(give(query, "/n_list.reply", first) == Step::ask);
        CHECK(give(query, "/n_list.reply", {i(0), i(0), i(1)}) == Step::ask);
        CHECK(asked(query) == "[ \"/n_list\", 0 ]\n");
    }
    REQUIRE(give(query, "/n_list.reply", first) == Step::ask);
    CHECK(give(query, "/n_list.reply", {i(0), i(0), i(1)}) == Step::ask);
    CHECK(asked(query) == "[ \"/d_list\", ]\n");
    CHECK_FALSE(query.contents().whole);

    // Where fewer were named, none followed.
    Query short_list = at_nodes();
    first.erase(first.end() - 4, first.end() - 2);
    REQUIRE(give(short_list, "/n_list.reply", first) == Step::ask);
    CHECK(give(short_list, "/n_list.reply", {i(0), i(0), i(1)}) == Step::ask);
    CHECK(asked(short_list) == "[ \"/d_list\", ]\n");
    CHECK(short_list.contents().whole);
}

TEST_CASE("pages say with what they are to go on, and what was told twice is there once") {
    Query query = at_synthdefs();
    const osc::ReplyArg name = "synthdef"_s;
    CHECK(give(query, "/d_list.reply",
               {i(0), i(0), i(0), name, "a"_s, i(0), i(1), i(0), i(2), i(0), i(1), "x"_s, 1.f, "next"_s, i(7), i(1),
                i(1), "a"_s}) == Step::ask);
    CHECK(asked(query) == "[ \"/d_list\", 7, 1, 1, \"a\" ]\n");
    CHECK(give(query, "/d_list.reply",
               {i(7), i(1), i(1), name, "a"_s, i(0), i(1), i(0), i(2), i(0), i(2), "x"_s, 3.f, "y"_s, 4.f}) ==
          Step::ask);
    CHECK(asked(query) == "[ \"/b_list\", ]\n");
    REQUIRE(query.contents().synthdefs.size() == 1);
    CHECK(query.contents().synthdefs[0].controls.size() == 2);
    CHECK(query.contents().synthdefs[0].controls[0].value == Value(3.f));
    REQUIRE(give(query, "/b_list.reply", {i(0)}) == Step::ask);
    CHECK(give(query, "/bind_list.reply",
               {i(0), i(0), "binding"_s, i(5), i(1), i(0), i(1), "/old"_s, "binding"_s, i(6), i(1), i(0), i(1), "/b"_s,
                "next"_s, i(2), i(0), i(8)}) == Step::ask);
    CHECK(asked(query) == "[ \"/bind_list\", 2, 0, 8 ]\n");
    CHECK(give(query, "/bind_list.reply", {i(2), i(0), "binding"_s, i(5), i(1), i(0), i(1), "/new"_s}) == Step::done);
    REQUIRE(query.contents().bindings.size() == 2);
    CHECK(query.contents().bindings[1].words == std::vector<Value>{"/new"});
    CHECK(query.contents().whole);
}

TEST_CASE("a server that can't tell, and one that tells nonsense") {
    Query old;
    CHECK(give(old, "/fail", {"/server_info"_s, "Command not found"_s}) == Step::failed);
    CHECK(old.failure() == "the server has no /server_info: it is scsynth, or an older pw-scsynth");
    Query busy = at_synthdefs();
    CHECK(give(busy, "/fail", {"/d_list"_s, "command queue full"_s}) == Step::failed);
    CHECK(busy.failure() == "the server refuses /d_list: command queue full");
    const std::vector<Args> wrong{
        {i(0), i(0), i(0), "node"_s, i(7)},
        {i(0), i(0), i(0), i(7)},
        {i(0), i(0), i(0), "group"_s, i(7)},
        {i(0), i(0), i(0), "synth"_s, i(7), i(0), i(1), "one"_s, i(9), i(0), i(2), "a"_s, 1.f},
        {i(0), i(0), i(0), "synth"_s, i(7), i(0), i(1), "one"_s, i(9), i(0), i(INT32_MAX)},
        {i(0), i(0), i(0), "next"_s, "x"_s},
        {"x"_s},
        {},
    };
    for (const Args& args : wrong) {
        Query query = at_nodes();
        CHECK(give(query, "/n_list.reply", args) == Step::failed);
        CHECK(query.failure() == "the server's answer to /n_list is not as this program knows it");
    }
    // Parts that don't follow each other are left out.
    Query torn = at_nodes();
    CHECK(give(torn, "/n_list.reply",
               {i(0), i(0), i(0), "synth"_s, i(7), i(0), i(1), "one"_s, i(9), i(5), i(1), "a"_s, 1.f}) == Step::ask);
    CHECK(torn.contents().nodes.at(0).controls.empty());
    CHECK_FALSE(torn.contents().whole);
}

TEST_CASE("whatever comes harms nothing") {
    std::minstd_rand random(1);
    const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
    constexpr std::string_view texts[] = {"group", "synth",   "none", "synthdef", "buffer",   "binding",  "next", "",
                                          "a",     "\x1b[2J", "\"\\", "\n\x7f",   "\xff\xc3", "\xc2\x9b", "é"};
    constexpr int32_t numbers[] = {0, 1, 2, -1, 7, 255, INT32_MAX, INT32_MIN};
    constexpr float reals[] = {0.f, 1e30f, NAN, -INFINITY};
    constexpr size_t heads[] = {0, 3, 3, 1, 2};
    for (int round = 0; round < 20'000; ++round) {
        Query query;
        size_t list = 0;
        for (int page = 0; page < 8 && list < std::size(heads); ++page) {
            Args args = query.arguments();
            args.resize(heads[list], i(0));
            for (size_t count = random() % 24; count > 0; --count)
                switch (random() % 8) {
                case 0: args.emplace_back(pick(reals)); break;
                case 1: args.emplace_back(double(pick(reals))); break;
                case 2:
                case 3:
                case 4: args.emplace_back(pick(texts)); break;
                default: args.emplace_back(pick(numbers));
                }
            const std::string address = query.address();
            const Step step = give(query, (address + ".reply").c_str(), args);
            if (step == Step::failed || step == Step::done)
                break;
            list += address != query.address();
        }
        const Contents& contents = query.contents();
        const std::string json = to_json(contents, {}, "h", 1), text = to_text(contents, {}, "h", {});
        CHECK(JsonReader(json).all());
        CHECK_FALSE(text.empty());
        CHECK(harmless(text));
        CHECK(is_printable(query.failure()));
    }
}

TEST_CASE("pages without an end are left one day") {
    Query query = at_synthdefs();
    Step step = Step::ask;
    int pages = 0;
    for (; step == Step::ask && pages < 1'000'000; ++pages) {
        Args args = query.arguments();
        if (args.empty())
            args = {i(0), i(0), i(0)};
        args.insert(args.end(), {"next"_s, i(0), i(0), i(1)});
        step = give(query, "/d_list.reply", args);
    }
    CHECK(step == Step::failed);
    CHECK(query.failure() == "the server's lists have no end");
}

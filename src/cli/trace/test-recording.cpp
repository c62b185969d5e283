// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/recording.hpp"

#include "cli/top/test-reply.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>
#include <utility>

using namespace scs;
using namespace scs::trace;
using test::Args;
using test::reply;
using Step = Recording::Step;

namespace {

Args operator+(Args left, const Args& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Args head(int32_t page, int32_t on = 1, int32_t more = 0, int32_t recording = 3) {
    return {recording, page, on, more, int32_t(2), int32_t(7)};
}

Args walk(int32_t thread, double began, int32_t nsec, int32_t block, const char* kind = "walk") {
    return {std::string_view(kind), thread, began, nsec, block};
}

Args job(int32_t thread, double began, int32_t nsec, int32_t voices, const char* name) {
    return walk(thread, began, nsec, voices, "job") + Args{std::string_view(name)};
}

Step give(Recording& recording, const Args& args, const char* address = "/trace_read.reply") {
    const auto packet = reply(address, args);
    return recording.take(packet.messages()[0]);
}

Step fail(Recording& recording, const char* command, const char* text) {
    return give(recording, {std::string_view(command), std::string_view(text)}, "/fail");
}

void start(Recording& recording) {
    REQUIRE(give(recording, {std::string_view("/trace_start"), int32_t(3)}, "/done") == Step::started);
}

bool parses(const Args& args, const char* address = "/trace_read.reply") {
    const auto packet = reply(address, args);
    return bool(parse_page(packet.messages()[0]));
}

std::string text(const Recording::Packet& bytes) {
    auto packet = osc::decode(bytes);
    REQUIRE(packet);
    return osc::to_text(packet.value());
}

} // namespace

TEST_CASE("a page is read") {
    const auto packet =
        reply("/trace_read.reply", head(5, 1, 1) + walk(0, 1'500'000'000'001., 20, -3) + job(1, 9., 8, 16, "ab"));
    const auto parsed = parse_page(packet.messages()[0]);
    REQUIRE(parsed);
    const Page& page = parsed.value();
    CHECK(page.recording == 3);
    CHECK(page.number == 5);
    CHECK(page.on);
    CHECK(page.more);
    CHECK(page.threads == 2);
    CHECK(page.dropped == 7);
    REQUIRE(page.events.size() == 2);
    CHECK(page.events[0].kind == Kind::walk);
    CHECK(page.events[0].began == 1'500'000'000'001);
    CHECK(page.events[0].nsec == 20);
    CHECK(page.events[0].count == -3);
    CHECK(page.events[1].kind == Kind::job);
    CHECK(page.events[1].thread == 1);
    CHECK(page.events[1].name == "ab");
    const char* kinds[] = {"cycle", "walk", "signal", "awake", "job", "write", "wait"};
    for (size_t i = 0; i < std::size(kinds); ++i) {
        const Args name = i == size_t(Kind::job) ? Args{std::string_view("x")} : Args{};
        const auto each = reply("/trace_read.reply", head(0) + walk(0, 1., 2, 3, kinds[i]) + name);
        const auto read = parse_page(each.messages()[0]);
        REQUIRE(read);
        CHECK(read.value().events.at(0).kind == Kind(i));
    }
}

TEST_CASE("a page that isn't as it should be is refused, wherever it ends") {
    const Args whole = head(0) + walk(0, 1., 2, 3) + job(1, 9., 8, 16, "ab");
    for (size_t left = 0; left < whole.size(); ++left) {
        CAPTURE(left);
        CHECK(parses({whole.begin(), whole.begin() + ptrdiff_t(left)}) == (left == 6 || left == 11));
    }
    CHECK(parses(whole));
    CHECK_FALSE(parses(whole, "/g_queryCost.reply"));
    CHECK_FALSE(parses(head(0) + walk(2, 1., 2, 3)));
    CHECK_FALSE(parses(head(0) + walk(0, -1., 2, 3)));
    CHECK_FALSE(parses(head(0) + walk(0, 1e16, 2, 3)));
    CHECK_FALSE(parses(head(0) + walk(0, 1., 2, 3, "other")));
    CHECK(parses(head(0) + walk(0, double(NAN), -2, 3)));
    for (const int32_t threads : {0, -1, 1025})
        CHECK_FALSE(parses({int32_t(1), int32_t(0), int32_t(1), int32_t(0), threads, int32_t(0)}));
}

TEST_CASE("a recording from its start to its end") {
    Recording recording;
    CHECK(text(Recording::start()) == "[ \"/trace_start\", ]\n");
    CHECK(give(recording, head(0)) == Step::ignored);
    CHECK(give(recording, {std::string_view("/notify"), int32_t(3)}, "/done") == Step::ignored);
    start(recording);
    CHECK(text(recording.read()) == "[ \"/trace_read\", 3 ]\n");
    CHECK(text(recording.stop()) == "[ \"/trace_stop\", 3 ]\n");
    CHECK(recording.pages_wanted() == 1);
    CHECK(give(recording, head(0, 1, 1) + walk(0, 1., 2, 3)) == Step::page);
    CHECK(recording.pages_wanted() == 2);
    CHECK_FALSE(recording.idle());
    CHECK(give(recording, head(0, 1, 1) + walk(0, 1., 2, 3)) == Step::ignored);    // twice
    CHECK(give(recording, head(1, 0, 0, 2) + walk(0, 1., 2, 3)) == Step::ignored); // of another one
    CHECK(give(recording, {std::string_view("/trace_start"), int32_t(4)}, "/done") == Step::ignored);
    for (int32_t page = 1; page < 6; ++page)
        CHECK(give(recording, head(page, 1, 1)) == Step::page);
    CHECK(recording.pages_wanted() == 8);
    CHECK(give(recording, head(8) + job(1, 5., 2, 3, "x")) == Step::page);
    CHECK(recording.pages_wanted() == 1);
    CHECK(recording.idle());
    CHECK(recording.on());
    CHECK(give(recording, head(9, 0, 1)) == Step::page);
    CHECK_FALSE(recording.on());
    CHECK(give(recording, head(10, 0, 0) + walk(0, 7., 2, 4)) == Step::done);
    CHECK(recording.log().events.size() == 3);
    CHECK(recording.log().threads == 2);
    CHECK(recording.log().dropped == 7);
    CHECK(recording.log().lost_pages == 2);
}

TEST_CASE("what ends it before") {
    Recording old;
    CHECK(fail(old, "/trace_start", "Command not found") == Step::failed);
    CHECK(old.failure() == "the server has no /trace_start: it is scsynth, or an older pw-scsynth");
    Recording second;
    CHECK(fail(second, "/n_free", "Node 7 not found") == Step::ignored);
    CHECK(fail(second, "/trace_read", "of somebody else") == Step::ignored);
    CHECK(fail(second, "/trace_start", "Another client records") == Step::failed);
    CHECK(second.failure() == "another client records; one at a time can");
    Recording strange;
    CHECK(give(strange, {std::string_view("/trace_start")}, "/done") == Step::failed);
    Recording lost;
    start(lost);
    CHECK(fail(lost, "/trace_start", "Another client records") == Step::ignored); // asked for twice
    CHECK(fail(lost, "/trace_stop", "whatever") == Step::ignored);
    CHECK(fail(lost, "/trace_read", "No such recording") == Step::failed);
    CHECK(lost.failure() == "the server refuses /trace_read: No such recording");
    Recording other;
    start(other);
    CHECK(give(other, {int32_t(3)}) == Step::failed);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/chrome.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace scs::trace;

namespace {

Event event(Kind kind, int thread, int64_t began, int32_t nsec, int32_t count = 0, std::string name = {}) {
    return {began, nsec, count, uint16_t(thread), kind, std::move(name)};
}

std::string written(const Log& log, const char* server = "here:1") {
    std::string all;
    CHECK(write_chrome_trace(log, server, [&](std::string_view text) {
        all += text;
        return true;
    }));
    return all;
}

/// The lines that are events, without what each has.
std::vector<std::string> events(const std::string& text) {
    const std::string head = "{\"ph\":\"X\",\"pid\":1,";
    std::vector<std::string> found;
    for (size_t at = 0; (at = text.find(head, at)) != text.npos;) {
        const size_t end = text.find('\n', at);
        found.push_back(text.substr(at + head.size(), end - at - head.size()));
        if (found.back().ends_with(","))
            found.back().pop_back();
        at = end;
    }
    return found;
}

} // namespace

TEST_CASE("a track for each thread, also without any event") {
    Log log;
    log.threads = 2;
    log.dropped = 5;
    log.lost_pages = 6;
    CHECK(written(log) ==
          "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":5,\"lost_pages\":6},\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"pw-scsynth here:1\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"data loop\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":0}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"helper 1\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":1}}\n"
          "]}\n");
}

TEST_CASE("each kind says what there is to say of it, in microseconds with fractions") {
    Log log;
    log.events = {event(Kind::cycle, 0, 0, 5'000'000, 256), event(Kind::walk, 0, 1, 999, -7),
                  event(Kind::signal, 0, 1'000, 1'000),     event(Kind::awake, 0, 2'001, 30'020, 9),
                  event(Kind::job, 0, 40'000, 1, 16, "ab"), event(Kind::write, 0, 50'000, 0, 3),
                  event(Kind::wait, 0, 60'000'000'123, 7)};
    CHECK(events(written(log)) ==
          std::vector<std::string>{
              R"("tid":1,"ts":0.000,"dur":5000.000,"cat":"cycle","name":"cycle","args":{"frames":256}})",
              R"("tid":1,"ts":0.001,"dur":0.999,"cat":"walk","name":"block","args":{"block":-7}})",
              R"("tid":1,"ts":1.000,"dur":1.000,"cat":"signal","name":"signal"})",
              R"("tid":1,"ts":2.001,"dur":30.020,"cat":"awake","name":"awake"})",
              R"("tid":1,"ts":40.000,"dur":0.001,"cat":"job","name":"ab","args":{"voices":16}})",
              R"("tid":1,"ts":50.000,"dur":0.000,"cat":"write","name":"write","args":{"jobs":3}})",
              R"("tid":1,"ts":60000000.123,"dur":0.007,"cat":"wait","name":"wait"})"});
}

TEST_CASE("the outer one comes first, thread by thread") {
    Log log;
    log.threads = 2;
    // In the order of their ends, as they are recorded.
    log.events = {event(Kind::job, 1, 20, 10, 1),  event(Kind::job, 0, 10, 5, 2),   event(Kind::job, 0, 15, 5, 3),
                  event(Kind::wait, 0, 10, 10, 4), event(Kind::walk, 0, 10, 10, 5), event(Kind::awake, 1, 5, 90, 6),
                  event(Kind::cycle, 0, 9, 20, 7)};
    std::vector<std::string> order;
    for (const std::string& line : events(written(log)))
        order.push_back(line.substr(0, line.find(",\"dur")) + line.substr(line.find(",\"cat"), 13));
    CHECK(order == std::vector<std::string>{R"("tid":1,"ts":0.009,"cat":"cycle)", R"("tid":1,"ts":0.010,"cat":"walk")",
                                            R"("tid":1,"ts":0.010,"cat":"wait")", R"("tid":1,"ts":0.010,"cat":"job",)",
                                            R"("tid":1,"ts":0.015,"cat":"job",)", R"("tid":2,"ts":0.005,"cat":"awake)",
                                            R"("tid":2,"ts":0.020,"cat":"job",)"});
}

TEST_CASE("any name is a JSON string") {
    Log log;
    log.events = {event(Kind::job, 0, 0, 1, 1,
                        "a\"b\\c\n\x01\xff"
                        "d é")};
    CHECK(written(log, "\"\\").find(R"("name":"pw-scsynth \"\\")") != std::string::npos);
    const std::string line = events(written(log)).at(0);
    CHECK(line.find("\"name\":\"a\\\"b\\\\c\\u000a\\u0001\xef\xbf\xbd"
                    "d é\"") != std::string::npos);
}

TEST_CASE("a long text comes in pieces, and no more after one that can't be written") {
    Log log;
    for (int i = 0; i < 10'000; ++i)
        log.events.push_back(event(Kind::walk, 0, i * 10, 5, i));
    int pieces = 0;
    size_t longest = 0;
    CHECK(write_chrome_trace(log, "", [&](std::string_view text) {
        ++pieces;
        longest = std::max(longest, text.size());
        return true;
    }));
    CHECK(pieces > 5);
    CHECK(longest < 70'000);
    int tries = 0;
    CHECK_FALSE(write_chrome_trace(log, "", [&](std::string_view) { return ++tries < 3; }));
    CHECK(tries == 3);
}

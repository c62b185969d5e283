// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/trace.hpp"

#include "engine/schedule/helpers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <tuple>

using namespace scs;

namespace {

constexpr int64_t second = 1'000'000'000;

/// With a clock that stands still until it is moved.
struct Recorder {
    explicit Recorder(int threads = 2, size_t records = 64)
        : trace(threads, {[](void* now) { return *static_cast<int64_t*>(now); }, &now}),
          rings(std::make_unique<Trace::Rings>(threads, records)) {}
    int32_t start() {
        const int32_t number = trace.start(rings);
        if (number)
            trace.begin_reading();
        return number;
    }
    void record(size_t thread, TraceKind kind, int64_t nsec, int32_t count = 0, std::string_view name = {}) {
        const int64_t began = trace.begin();
        now += nsec;
        trace.end(thread, kind, began, count, name);
    }
    /// What read() finds, as "thread kind began nsec count name".
    std::vector<std::string> read(size_t most = SIZE_MAX) {
        std::vector<std::string> all;
        more = trace.read([&](size_t thread, const TraceRecord& record) {
            if (all.size() == most)
                return false;
            all.push_back(std::to_string(thread) + " " + std::to_string(int(record.kind)) + " " +
                          std::to_string(record.began) + " " + std::to_string(record.nsec) + " " +
                          std::to_string(record.count) + " " + std::string(record.text()));
            return true;
        });
        return all;
    }

    int64_t now = 100;
    Trace trace;
    std::unique_ptr<Trace::Rings> rings;
    bool more = false;
};

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("nothing is recorded before the start and after the end") {
    Recorder r;
    CHECK(r.trace.begin() == 0);
    r.record(0, TraceKind::walk, 5);
    CHECK(r.read().empty());
    CHECK_FALSE(r.trace.has_rings());
    REQUIRE(r.start() == 1);
    CHECK(r.trace.has_rings());
    CHECK_FALSE(r.rings);
    r.record(0, TraceKind::walk, 5, 7);
    const int64_t under_way = r.trace.begin();
    CHECK(r.trace.stop(1));
    r.record(0, TraceKind::walk, 5);
    r.trace.end(1, TraceKind::awake, under_way);
    CHECK(r.read() == Lines{"0 1 105 5 7 ", "1 3 110 5 0 "});
    CHECK(r.read().empty());
    CHECK(Trace::none().begin() == 0);
}

TEST_CASE("records of all threads are read in turn, as many as are wanted") {
    Recorder r(3);
    REQUIRE(r.start() == 1);
    for (int i = 0; i < 3; ++i)
        r.record(0, TraceKind::job, 10, i, "a");
    r.record(2, TraceKind::job, 10, 9, "b");
    r.record(3, TraceKind::job, 10, 9, "there is no such thread");
    CHECK(r.read(3) == Lines{"0 4 100 10 0 a", "2 4 130 10 9 b", "0 4 110 10 1 a"});
    CHECK(r.more);
    CHECK(r.read(1) == Lines{"0 4 120 10 2 a"});
    CHECK_FALSE(r.more);
}

TEST_CASE("a name is cut, a time has its bounds") {
    Recorder r;
    REQUIRE(r.start());
    const std::string name(100, 'x');
    r.record(0, TraceKind::job, 5 * second, -1, name);
    r.record(0, TraceKind::job, -50);
    CHECK(r.read() ==
          Lines{"0 4 100 4294967295 -1 " + name.substr(0, TraceRecord::most_name_bytes), "0 4 5000000100 0 0 "});
}

TEST_CASE("a full ring drops what comes, and counts it") {
    Recorder r(2, 64);
    REQUIRE(r.start());
    for (int i = 0; i < 100; ++i)
        r.record(0, TraceKind::walk, 1, i);
    r.record(1, TraceKind::awake, 1);
    CHECK(r.trace.dropped() == 36);
    const Lines all = r.read();
    REQUIRE(all.size() == 65);
    CHECK(all.back() == "0 1 163 1 63 ");
    r.record(0, TraceKind::walk, 1, 100);
    CHECK(r.read().size() == 1);
    CHECK(r.trace.dropped() == 36);
    // What is left of one recording takes no room from the next.
    for (int i = 0; i < 100; ++i)
        r.record(0, TraceKind::walk, 1, i);
    r.trace.stop(1);
    REQUIRE(r.start() == 2);
    r.record(0, TraceKind::walk, 1, 7);
    CHECK(r.trace.dropped() == 0);
    CHECK(r.read().size() == 1);
}

TEST_CASE("there is one recording at a time, and only the last can be read or ended") {
    Recorder r;
    CHECK_FALSE(r.trace.read_by(0));
    CHECK_FALSE(r.trace.stop(0));
    REQUIRE(r.start() == 1);
    CHECK(r.start() == 0);
    CHECK_FALSE(r.trace.stop(2));
    CHECK(r.trace.on());
    CHECK(r.trace.stop(1));
    CHECK(r.trace.stop(1));
    CHECK(r.trace.read_by(1));
    // What the last one left isn't of this one, nor what began before it.
    r.trace.end(0, TraceKind::walk, 50);
    const int64_t before = r.now;
    r.now += 10;
    REQUIRE(r.start() == 2);
    CHECK_FALSE(r.trace.read_by(1));
    r.trace.end(1, TraceKind::awake, before);
    r.record(0, TraceKind::walk, 5);
    CHECK(r.read() == Lines{"0 1 110 5 0 "});
}

TEST_CASE("a recording that nobody reads ends by itself") {
    Recorder r;
    REQUIRE(r.start() == 1);
    r.now += Trace::patience;
    CHECK(r.trace.begin_cycle() == r.now);
    CHECK(r.trace.read_by(1));
    r.now += Trace::patience;
    CHECK(r.trace.begin_cycle() == r.now);
    CHECK(r.start() == 0);
    r.now += 1;
    SUBCASE("in the next cycle") {
        CHECK(r.trace.begin_cycle() == 0);
        CHECK_FALSE(r.trace.on());
        CHECK(r.start() == 2);
    }
    SUBCASE("without a cycle, when the next one is to start") {
        CHECK(r.trace.on());
        CHECK(r.start() == 2);
        CHECK_FALSE(r.trace.read_by(1));
    }
}

TEST_CASE("threads that write while others read and recordings begin and end") {
    constexpr int threads = 3;
    Trace trace(threads);
    auto rings = std::make_unique<Trace::Rings>(threads, 256);
    std::atomic<bool> ending{false};
    std::vector<std::thread> writers;
    for (size_t thread = 1; thread < threads; ++thread)
        writers.emplace_back([&, thread] {
            for (int32_t i = 0; !ending; ++i) {
                const std::string name(size_t(i) % TraceRecord::most_name_bytes, char('a' + i % 26));
                const int64_t began = trace.begin();
                trace.end(thread, TraceKind::job, began, i, name);
                if (!began)
                    std::this_thread::yield();
            }
        });
    size_t read = 0, wrong = 0;
    for (int round = 1; round <= 20; ++round) {
        const int32_t number = trace.start(rings);
        CHECK(number == round);
        trace.begin_reading();
        int64_t ends[threads] = {};
        const auto take = [&](size_t thread, const TraceRecord& record) {
            const auto i = size_t(record.count);
            const int64_t end = record.began + record.nsec;
            wrong += record.text() != std::string(i % TraceRecord::most_name_bytes, char('a' + i % 26)) ||
                     record.began < trace.reads_from() || end < ends[thread] || thread == 0;
            ends[thread] = end;
            ++read;
            return true;
        };
        const size_t before = read;
        while (read < before + 2000) {
            trace.read(take);
            trace.begin_cycle();
            (void)trace.read_by(number);
            std::this_thread::yield();
        }
        CHECK(trace.stop(number));
    }
    ending = true;
    for (std::thread& writer : writers)
        writer.join();
    CHECK(wrong == 0);
}

TEST_CASE("helpers tell when they are awake, and the owner when it signals") {
    Trace trace(2);
    auto rings = std::make_unique<Trace::Rings>(2);
    REQUIRE(trace.start(rings) == 1);
    trace.begin_reading();
    TaskGraph graph(4, 2);
    const auto nothing = [](void*, size_t) noexcept {};
    Helpers helpers(
        graph, [](void*, size_t, TaskGraph::Task) noexcept {}, nothing, nullptr,
        {.threads = 1, .patience = 0, .trace = &trace}, std::make_shared<HelperPool>(ThreadMaker::plain(), false));
    int signals = 0, awake = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (awake < 5 && std::chrono::steady_clock::now() < limit) {
        helpers.begin_cycle();
        graph.open_strands(0, 0);
        helpers.begin_round();
        helpers.end_cycle();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        trace.read([&](size_t thread, const TraceRecord& record) {
            signals += thread == 0 && record.kind == TraceKind::signal;
            awake += thread == 1 && record.kind == TraceKind::awake;
            return true;
        });
    }
    CHECK(awake >= 5);
    CHECK(signals >= 5);
}

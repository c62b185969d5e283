// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a cycle each node's engine is given. The clocks are the test's.
#include "fixture.hpp"
#include "scripted-clock.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace scs::test;

namespace {

constexpr uint64_t start_nsec = 5'000'000'000;
constexpr int64_t duration = 10'000'000; // ns, of 480 frames

/// Cycles whose nodes get their turns so late, ns after the cycle began.
struct Timed : FakeHost {
    Timed() {
        position().clock.nsec = start_nsec;
        position().clock.flags = 0;
        before_process = [this] {
            now = position().clock.nsec + uint64_t(late);
            clock.emplace(now, now);
            late += step;
        };
        after_process = [this] {
            clock.reset();
            deadlines.push_back(fake.deadline - int64_t(position().clock.nsec));
            rendered.push_back(fake.renders);
        };
    }
    ~Timed() { before_process = after_process = nullptr; }
    /// A cycle in which the first node begins `first` ns late and each other one `after` ns after the one before.
    void cycle_at(int64_t first, int64_t after = 0) {
        late = first;
        step = after;
        deadlines.clear();
        rendered.clear();
        cycle(480);
    }

    uint64_t now = 0;
    int64_t late = 0, step = 0;
    std::vector<int64_t> deadlines; ///< of the nodes, ns after the cycle began
    std::vector<bool> rendered;
    std::optional<ScriptedClock> clock;
};

} // namespace

TEST_CASE("an engine may take 0.7 of a cycle from the moment when its turn comes") {
    Timed host;
    auto node = host.create({});
    node->start();
    host.cycle_at(0);
    CHECK(host.deadlines.at(0) == 7'000'000);
    host.cycle_at(1'000'000);
    CHECK(host.deadlines.at(0) == 8'000'000);
    CHECK(host.rendered.at(0));
}

TEST_CASE("the limit is a setting; without one, freewheeling and in a host without a clock there is no deadline") {
    Timed host;
    auto node = host.create({{"scsynth.cpu-limit", "0.25"}});
    node->start();
    host.cycle_at(0);
    CHECK(host.deadlines.at(0) == 2'500'000);
    host.position().clock.flags = SPA_IO_CLOCK_FLAG_FREEWHEEL;
    host.cycle(480);
    CHECK(host.fake.deadline == scs::Deadline::never);
    host.position().clock.flags = 0;
    node.reset();
    node = host.create({{"scsynth.cpu-limit", "0"}});
    node->start();
    host.cycle(480);
    CHECK(host.fake.deadline == scs::Deadline::never);
}

TEST_CASE("nodes of one loop share the time: each is sure of its part, and has what those before it left") {
    Timed host;
    std::vector<std::unique_ptr<HostNode>> nodes;
    for (const char* port : {"57110", "57111"}) {
        nodes.push_back(host.create({{"scsynth.osc.port", port}}));
        nodes.back()->start();
    }
    host.cycle_at(0); // from here on they know of each other
    host.cycle_at(0, 500'000);
    CHECK(host.deadlines == std::vector<int64_t>{3'500'000, 7'000'000});
    host.cycle_at(0, 6'000'000); // the first one took too long
    CHECK(host.deadlines == std::vector<int64_t>{3'500'000, 9'500'000});
    nodes.pop_back();
    host.cycle_at(0);
    host.cycle_at(0);
    CHECK(host.deadlines == std::vector<int64_t>{7'000'000});
}

TEST_CASE("when cycles have come late for 50 ms, nothing is rendered until one is in time") {
    Timed host;
    auto node = host.create({});
    node->start();
    host.cycle_at(0);
    for (int i = 0; i < 5; ++i) {
        host.cycle_at(5'100'000);
        CHECK(host.rendered.at(0));
    }
    for (int i = 0; i < 5; ++i) {
        host.cycle_at(5'100'000);
        CHECK_FALSE(host.rendered.at(0));
        CHECK(host.deadlines.at(0) - 5'100'000 < duration / 10); // for commands
        CHECK(host.deadlines.at(0) > 5'100'000);
    }
    host.cycle_at(4'900'000);
    CHECK(host.rendered.at(0));
    host.cycle_at(5'100'000);
    CHECK(host.rendered.at(0));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What waits for bindings: events and what synths tell, where there is no room, and where there is no time.
#include "engine/control/bindings.hpp"

#include "test-timed.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

using namespace scs;
using namespace scs::test;

TEST_CASE("packets have room again when they are gone, though events wait") {
    auto queue = std::make_unique<EventQueue>();
    const std::vector<std::byte> packet(60'000);
    for (int cycle = 0; cycle < 10; ++cycle) {
        ControlEvent events[2];
        events[0].packet = packet;
        events[1].frame = 100;
        CHECK(queue->add(events) == 0);
        while (queue->any_before(128, 64))
            queue->pop();
        queue->end_cycle(128);
    }
    ControlEvent large[3];
    for (ControlEvent& each : large)
        each.packet = packet;
    CHECK(queue->add(large) == 2);
}

TEST_CASE("events of clients go before those of the same frame, wherever the queue begins") {
    auto queue = std::make_unique<EventQueue>();
    const auto event = [](int frame, int number) {
        ControlEvent made;
        made.frame = frame;
        made.number = uint16_t(number);
        return made;
    };
    for (int turn = 0; turn < 5000; ++turn) {
        const ControlEvent ports[] = {event(-1, 0), event(0, 3), event(5, 4)}, clients[] = {event(9, 1), event(9, 2)};
        REQUIRE(queue->add(ports) == 0);
        REQUIRE(queue->insert(clients, 0) == 0);
        for (int number = 0; number < 5; ++number) {
            REQUIRE(queue->any_before(6, 0));
            REQUIRE(queue->first().number == number);
            queue->pop();
        }
        REQUIRE_FALSE(queue->any_before(6, 0));
    }
    std::vector<ControlEvent> many(EventQueue::most - 1);
    REQUIRE(queue->add(many) == 0);
    const ControlEvent clients[] = {event(0, 1), event(0, 2)};
    CHECK(queue->insert(clients, 0) == 1);
    CHECK(queue->first().number == 1);
}

TEST_CASE("what was told to a binding that is gone has no effect") {
    auto queue = std::make_unique<SynthEventQueue>();
    const float values[] = {1.f, 2.f};
    for (int block = 0; block < 5000; ++block) { // one always waits
        REQUIRE(queue->add(7, {.node = block, .values = values}, block));
        REQUIRE(queue->add(8, {.node = block, .values = std::span(values).first(1)}, block));
        queue->sort(block);
        if (block > 0)
            for (int i = 0; i < 2; ++i) {
                CHECK(queue->first().node == block - 1);
                CHECK(queue->values(queue->first()).back() == (i == 0 ? 2.f : 1.f));
                queue->pop();
            }
    }
    CHECK_FALSE(queue->first().gone);
    queue->forget(7);
    CHECK(queue->first().gone);
    queue->pop();
    CHECK_FALSE(queue->first().gone);
}

TEST_CASE("an event for which there is no time goes on in the next cycle, where it has come to") {
    Timed t;
    struct Slow final : Binding {
        Slow(int32_t id, Timed& timed) : Binding(id, {}), t(timed) {}
        void handle(const ControlEvent& event, BindingTargets&) noexcept override {
            t.order += char('a' + id());
            t.order += std::to_string(event.number);
            t.now += cost();
        }
        void end(BindingTargets&) noexcept override {}
        int64_t cost() const noexcept override { return 400'000; }
        Timed& t;
    };
    for (int32_t id = 0; id < 5; ++id) {
        std::unique_ptr<Binding> made = std::make_unique<Slow>(id, t);
        REQUIRE(t.engine->bindings().put(made));
    }
    std::vector<ControlEvent> events(2);
    events[0].number = 1;
    events[1].number = 2;
    t.cycle(cycle_nsec, true, events);
    CHECK(t.order == "a1b1c1d1");
    CHECK(t.engine->status().cuts == 1);
    CHECK(t.engine->bindings().take(1) != nullptr);
    t.cycle();
    CHECK(t.order == "a1b1c1d1e1a2c2d2");
    t.cycle();
    t.cycle();
    CHECK(t.order == "a1b1c1d1e1a2c2d2e2");
}

TEST_CASE("what has no time is done before anything else, and only once") {
    Timed t;
    struct Long final : Binding {
        explicit Long(Timed& timed) : Binding(1, {}), t(timed) {}
        void handle(const ControlEvent& event, BindingTargets&) noexcept override { begin(char('a' + event.number)); }
        void handle(const SynthEvent& event, BindingTargets&) noexcept override { begin(char('a' + event.id)); }
        bool go_on() noexcept override {
            if (left == 0)
                return true;
            t.now += cycle_nsec; // all of the time
            t.order += --left > 0 ? "-" : ".";
            return left == 0;
        }
        bool hears_synths() const noexcept override { return true; }
        bool hears(const SynthEvent&) const noexcept override { return true; }
        void end(BindingTargets&) noexcept override {}
        int64_t cost() const noexcept override { return 1; }
        void begin(char name) {
            t.order += name;
            left = 3;
        }
        Timed& t;
        int left = 0;
    };
    std::unique_ptr<Binding> made = std::make_unique<Long>(t);
    REQUIRE(t.engine->bindings().put(made));
    std::string expected;
    SUBCASE("an event") {
        ControlEvent event;
        event.number = 1;
        t.cycle(cycle_nsec, true, {&event, 1});
        CHECK(t.order == "b-");
        expected = "b--.!";
    }
    SUBCASE("what a synth tells") {
        t.cycle();
        t.engine->bindings().hear({1000, 1, {}, {}, 5});
        t.engine->bindings().hear({1000, 2, {}, {}, 3}); // an earlier frame
        t.cycle();
        CHECK(t.order == "c-");
        expected = "c--.!b--.";
    }
    REQUIRE(t.engine->submit(bundle_of([&](Engine&) { t.order += '!'; })));
    for (int i = 0; i < 5; ++i)
        t.cycle();
    for (int i = 0; i < 5; ++i)
        t.engine->run_idle();
    CHECK(t.order == expected);
}

TEST_CASE("what synths tell and has no room is counted") {
    Timed t;
    struct Ear final : Binding {
        Ear() : Binding(2, {}) {}
        void handle(const ControlEvent&, BindingTargets&) noexcept override {}
        void handle(const SynthEvent& event, BindingTargets&) noexcept override {
            heard.push_back(event.id);
            CHECK(event.values.size() == 7);
            CHECK(event.values[6] == float(event.id));
            if (event.id == 76) // an answer has to wait for the next block
                again->hear({0, 77, {}, std::array{0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 77.f}, 0});
        }
        bool hears_synths() const noexcept override { return true; }
        bool hears(const SynthEvent&) const noexcept override { return true; }
        void end(BindingTargets&) noexcept override {}
        int64_t cost() const noexcept override { return 1; }
        Bindings* again = nullptr;
        std::vector<int> heard;
    };
    auto ear = std::make_unique<Ear>();
    Ear& hears = *ear;
    hears.again = &t.engine->bindings();
    std::unique_ptr<Binding> made = std::move(ear);
    REQUIRE(t.engine->bindings().put(made));
    t.cycle();
    for (int i = 0; i < 1100; ++i)
        t.engine->bindings().hear(
            {1, 100 + i, {}, std::array{0.f, 0.f, 0.f, 0.f, 0.f, 0.f, float(100 + i)}, 63 - i % 64});
    t.cycle();
    REQUIRE(hears.heard.size() == 1024);
    CHECK(hears.heard[0] == 163);
    CHECK(hears.heard[1] == 227);
    CHECK(hears.heard[1023] == 1060);
    CHECK(t.engine->status().refused_control == 76);
    t.engine->bindings().hear({1, 76, {}, std::array{0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 76.f}, 0});
    t.cycle();
    CHECK(hears.heard.size() == 1025);
    t.cycle();
    CHECK(hears.heard.size() == 1026);
    CHECK(hears.heard.back() == 77);
    CHECK(t.engine->bindings().take(2));
    t.engine->bindings().hear({});
    CHECK_FALSE(t.engine->bindings().act_in_each_block());
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves by control ports: at which frame of which cycle, and what there is no room for.
#include "engine/control/control-outputs.hpp"

#include "test-support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

struct Sent {
    long long frame; ///< since the first cycle
    int number;
    bool operator==(const Sent&) const = default;
};

struct Outputs : Fixture {
    Outputs() { outputs().set_linked(1); }
    ControlOutputs& outputs() { return engine->control_outputs(); }
    /// Takes what leaves in a cycle, or after it.
    std::vector<OutgoingEvent> cycle(int frames = 64) {
        std::vector<float> sound(size_t(frames), 0.f);
        float* out[] = {sound.data(), nullptr};
        const float* in[] = {nullptr, nullptr};
        engine->process(frames, ntp_advance(start, position, 48000), 48000, in, out);
        std::vector<OutgoingEvent> taken;
        outputs().take([&](const OutgoingEvent& each) {
            taken.push_back(each);
            taken.back().packet = {};
            packets.emplace_back(reinterpret_cast<const char*>(each.packet.data()), each.packet.size());
        });
        position += frames;
        pump();
        return taken;
    }
    /// A command that sends a note of that number.
    CommandBundle* note(int number, NtpTime time) {
        auto* bundle = new CommandBundle;
        bundle->time = time;
        bundle->append(new Call([number](Engine& e) {
            CHECK(e.control_outputs().send(
                {ControlEvent::Kind::note_on, 0, 0, uint8_t(number), e.world().offset(), 1.f, {}}));
            return Outcome::done;
        }));
        return bundle;
    }
    std::vector<std::string> packets;
};

} // namespace

TEST_CASE("what bundles send has their frame, in whatever cycle they are computed") {
    for (const int quantum : {16, 64, 256, 441, 1000}) {
        CAPTURE(quantum);
        Outputs o;
        std::vector<Sent> asked, sent;
        for (int i = 0; i < 40; ++i) {
            const int frame = 100 + i * 37;
            REQUIRE(o.engine->submit(o.note(i, ntp_advance(o.start, frame, 48000))));
            asked.push_back({frame, i});
        }
        while (o.position < 2000) {
            const auto begin = o.position;
            for (const OutgoingEvent& each : o.cycle(quantum)) {
                CHECK(each.frame >= 0);
                CHECK(each.frame < quantum + 64);
                sent.push_back({begin + each.frame, each.number});
            }
        }
        CHECK(sent == asked);
    }
}

TEST_CASE("what is sent between cycles leaves with the next block") {
    Outputs o;
    CHECK(o.cycle(100).empty()); // blocks up to frame 128
    REQUIRE(o.engine->submit(o.note(7, immediately)));
    (void)o.engine->run_idle();
    const auto sent = o.cycle(100);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame == 28);
    CHECK(o.cycle(100).empty());
}

TEST_CASE("a cycle without a block leaves what is sent for the next one") {
    Outputs o;
    CHECK(o.cycle(16).empty());
    REQUIRE(o.engine->submit(o.note(7, immediately)));
    CHECK(o.cycle(16).empty());
    CHECK(o.cycle(16).empty());
    CHECK(o.cycle(16).empty());
    const auto sent = o.cycle(16);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame == 0);
}

TEST_CASE("what synths tell keeps its path and values") {
    Outputs o;
    const float values[] = {1, 2};
    o.outputs().hear({1000, 3, "/path", values, 5});
    o.outputs().hear({1000, 4, {}, std::span(values).first(1), 6});
    const auto sent = o.cycle();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].kind == ControlEvent::Kind::packet);
    CHECK(sent[0].frame == 5);
    CHECK(sent[0].node == 1000);
    CHECK(sent[0].id == 3);
    CHECK(sent[0].values == 2);
    REQUIRE(o.packets[0].size() == 13);
    CHECK(std::memcmp(o.packets[0].data(), values, 8) == 0);
    CHECK(o.packets[0].substr(8) == "/path");
    CHECK(sent[1].values == 1);
    CHECK(o.packets[1].size() == 4);
    o.outputs().set_linked(2); // nobody at the port of what synths tell
    o.outputs().hear({1000, 4, {}, std::span(values).first(1), 6});
    CHECK(o.cycle().empty());
}

TEST_CASE("what commands send leaves room for what synths tell") {
    Outputs o;
    size_t sent = 0;
    while (sent < 5000 && o.outputs().send({ControlEvent::Kind::note_on, 0, 0, 60, 0, 1.f, {}}))
        ++sent;
    CHECK(sent < OutgoingQueue::most);
    CHECK(o.outputs().take_lost() == 1);
    const std::array<float, 1> value{1};
    o.outputs().hear({1000, 3, "/path", value, 5});
    CHECK(o.outputs().take_lost() == 0);
    CHECK(o.cycle().size() == sent + 1);
}

TEST_CASE("a queue keeps packets apart, and takes no more than it has room for") {
    OutgoingQueue queue;
    const auto bytes = [](size_t count, int fill) { return std::vector<std::byte>(count, std::byte(fill)); };
    const auto event = [](int frame) {
        OutgoingEvent made;
        made.frame = frame;
        return made;
    };
    const auto big = bytes(20000, 1), small = bytes(4, 2);
    CHECK(queue.add(event(0), big));
    CHECK(queue.add(event(100), small, bytes(4, 3)));
    CHECK(queue.add(event(1), big, big));
    CHECK_FALSE(queue.add(event(2), big));
    CHECK(queue.add(event(101), bytes(4, 4)));
    queue.remove_before(100);
    REQUIRE(queue.events().size() == 2);
    CHECK(std::vector(queue.events()[0].packet.begin(), queue.events()[0].packet.end()) ==
          std::vector{std::byte(2), std::byte(2), std::byte(2), std::byte(2), std::byte(3), std::byte(3), std::byte(3),
                      std::byte(3)});
    CHECK(queue.events()[1].packet[0] == std::byte(4));
    CHECK(queue.add(event(2), bytes(OutgoingQueue::most_bytes - 12, 5)));
    queue.remove_first(3);
    CHECK(queue.events().empty());
    for (size_t i = 0; i < OutgoingQueue::most; ++i)
        CHECK(queue.add(event(0)));
    CHECK_FALSE(queue.add(event(0)));
}

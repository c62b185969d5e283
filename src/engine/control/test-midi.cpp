// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/midi.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <random>
#include <vector>

using namespace scs;
using Kind = ControlEvent::Kind;

namespace {

struct Found {
    MidiRead read;
    ControlEvent event;
};

Found midi(std::initializer_list<uint8_t> bytes) {
    Found found{};
    found.read = read_midi(std::vector<uint8_t>(bytes), found.event);
    return found;
}

Found ump(std::initializer_list<uint32_t> words) {
    Found found{};
    found.read = read_ump(std::vector<uint32_t>(words), found.event);
    return found;
}

void check(const Found& found, Kind kind, int channel, int number, double value) {
    CHECK(found.read == MidiRead::event);
    CHECK(found.event.kind == kind);
    CHECK(int(found.event.channel) == channel);
    CHECK(int(found.event.number) == number);
    CHECK(double(found.event.value) == doctest::Approx(value).epsilon(1e-7));
}

} // namespace

TEST_CASE("channel voice messages of MIDI 1.0") {
    check(midi({0x90, 60, 127}), Kind::note_on, 0, 60, 1);
    check(midi({0x9f, 127, 1}), Kind::note_on, 15, 127, 1 / 127.0);
    check(midi({0x93, 60, 0}), Kind::note_off, 3, 60, 0);
    check(midi({0x83, 60, 64}), Kind::note_off, 3, 60, 64 / 127.0);
    check(midi({0xa1, 60, 32}), Kind::note_pressure, 1, 60, 32 / 127.0);
    check(midi({0xb0, 74, 127}), Kind::controller, 0, 74, 1);
    check(midi({0xc2, 5}), Kind::program, 2, 5, 0);
    check(midi({0xd2, 127}), Kind::pressure, 2, 0, 1);
    check(midi({0xe0, 0, 64}), Kind::bend, 0, 0, 0);
    check(midi({0xe0, 0, 0}), Kind::bend, 0, 0, -1);
    check(midi({0xe0, 127, 127}), Kind::bend, 0, 0, 1);
}

TEST_CASE("what is no message for a synth, and what is none at all") {
    for (const auto& found : {midi({0xf0, 1, 2, 0xf7}), midi({0xff}), midi({0xfe}), midi({0xf1, 0})})
        CHECK(found.read == MidiRead::other);
    for (const auto& found : {midi({}), midi({60, 1}), midi({0x90}), midi({0x90, 60}), midi({0x90, 60, 1, 2}),
                              midi({0x90, 200, 1}), midi({0x90, 60, 128}), midi({0xc0}), midi({0xc0, 1, 2}),
                              midi({0xf8, 0}), midi({0xf2, 0}), midi({0xf2, 0, 128}), midi({0xf2, 128, 0})})
        CHECK(found.read == MidiRead::malformed);
}

TEST_CASE("clock and song position, in both forms") {
    check(midi({0xf8}), Kind::clock, 0, 0, 0);
    check(midi({0xfa}), Kind::start, 0, 0, 0);
    check(midi({0xfb}), Kind::go_on, 0, 0, 0);
    check(midi({0xfc}), Kind::stop, 0, 0, 0);
    check(midi({0xf2, 1, 2}), Kind::song_position, 0, 0, 257);
    check(midi({0xf2, 127, 127}), Kind::song_position, 0, 0, 16383);
    check(ump({0x10f80000}), Kind::clock, 0, 0, 0);
    check(ump({0x13fa0000}), Kind::start, 0, 0, 0);
    check(ump({0x10f20102}), Kind::song_position, 0, 0, 257);
    for (const auto& found : {ump({0x10f10000}), ump({0x10fe0000})})
        CHECK(found.read == MidiRead::other);
    for (const auto& found : {ump({0x10f20180}), ump({0x10900000}), ump({0x10f80000, 0})})
        CHECK(found.read == MidiRead::malformed);
    CHECK_FALSE(midi({0xf8}).event.of_channel());
    CHECK(midi({0xe0, 0, 64}).event.of_channel());
}

TEST_CASE("Universal MIDI Packets") {
    check(ump({0x20903c7f}), Kind::note_on, 0, 60, 1);
    check(ump({0x21933c00}), Kind::note_off, 3, 60, 0);
    check(ump({0x20c20500}), Kind::program, 2, 5, 0);
    check(ump({0x40903c00, 0xffff0000}), Kind::note_on, 0, 60, 1);
    check(ump({0x40903c00, 0x00000000}), Kind::note_on, 0, 60, 0); // MIDI 2.0 has no such note off
    check(ump({0x40853c00, 0x80000000}), Kind::note_off, 5, 60, 0x8000 / 65535.0);
    check(ump({0x40b04a00, 0xffffffff}), Kind::controller, 0, 74, 1);
    check(ump({0x40e00000, 0x80000000}), Kind::bend, 0, 0, 0);
    check(ump({0x40e00000, 0xffffffff}), Kind::bend, 0, 0, 1);
    check(ump({0x40d10000, 0x80000000}), Kind::pressure, 1, 0, 0.5);
    check(ump({0x40a13c00, 0xffffffff}), Kind::note_pressure, 1, 60, 1);
    check(ump({0x40c10000, 0x05000000}), Kind::program, 1, 5, 0);
    for (const auto& found : {ump({0x00000000}), ump({0x30160000, 0}), ump({0x40103c03, 0}), ump({0x40400001, 0}),
                              ump({0x40500001, 0}), ump({0x40700001, 0}), ump({0x40f03c01, 0})})
        CHECK(found.read == MidiRead::other);
    for (const auto& found :
         {ump({}), ump({0x40903c00}), ump({0x20903c7f, 0}), ump({0x20103c7f}), ump({0x2090ff7f}), ump({0x4090ff00, 0}),
          ump({0x20f00000}), ump({0x40208000, 0}), ump({0x40300080, 0}), ump({0x40608000, 0})})
        CHECK(found.read == MidiRead::malformed);
}

TEST_CASE("parameters, and controllers and bends of a note, of MIDI 2.0") {
    check(ump({0x40230002, 0xffffffff}), Kind::parameter, 3, 2, 1);
    check(ump({0x40200102, 0x80000000}), Kind::parameter, 0, 130, 0.5);
    check(ump({0x403f7f7e, 0}), Kind::own_parameter, 15, 16382, 0);
    check(ump({0x40613c00, 0x80000000}), Kind::note_bend, 1, 60, 0);
    check(ump({0x40613c00, 0}), Kind::note_bend, 1, 60, -1);
    const Found found = ump({0x40023cff, 0xffffffff});
    check(found, Kind::note_controller, 2, 60, 1);
    CHECK(found.event.controller == 255);
    CHECK_FALSE(found.event.of_midi1());
    CHECK(midi({0xe0, 0, 64}).event.of_midi1());
    CHECK(midi({0xf8}).event.of_midi1());
}

TEST_CASE("events of all kinds are written as they are read, with their bits") {
    const auto bytes = [](const ControlEvent& event) {
        const MidiMessage message = write_midi(event);
        return std::vector<uint8_t>(message.bytes.begin(), message.bytes.begin() + ptrdiff_t(message.size));
    };
    const auto event = [](Kind kind, int channel, int number, float value) {
        return ControlEvent{kind, 0, uint8_t(channel), uint8_t(number), 0, value, {}};
    };
    using Bytes = std::vector<uint8_t>;
    CHECK(bytes(event(Kind::note_on, 15, 60, 0.5f)) == Bytes{0x9f, 60, 64});
    CHECK(bytes(event(Kind::note_on, 0, 60, 0.001f)) == Bytes{0x90, 60, 1}); // 0 would be a note off
    CHECK(bytes(event(Kind::note_on, 0, 60, 0)) == Bytes{0x90, 60, 0});
    CHECK(bytes(event(Kind::note_off, 0, 127, 1)) == Bytes{0x80, 127, 127});
    CHECK(bytes(event(Kind::bend, 2, 0, -1)) == Bytes{0xe2, 0, 0});
    CHECK(bytes(event(Kind::bend, 2, 0, 0)) == Bytes{0xe2, 0, 64});
    CHECK(bytes(event(Kind::bend, 2, 0, 1)) == Bytes{0xe2, 127, 127});
    CHECK(bytes(event(Kind::song_position, 0, 0, 16383)) == Bytes{0xf2, 127, 127});
    for (int status = 0x80; status < 0xf0; ++status)
        for (int value = 0; value < 128; ++value) {
            const bool one = status >= 0xc0 && status < 0xe0;
            const auto first = uint8_t(one ? value : 127 - value);
            const Bytes message = one ? Bytes{uint8_t(status), first} : Bytes{uint8_t(status), first, uint8_t(value)};
            ControlEvent read;
            REQUIRE(read_midi(message, read) == MidiRead::event);
            if (status >> 4 == 9 && value == 0)
                continue;
            CHECK(bytes(read) == message);
            ControlEvent again;
            const uint32_t word = write_ump(read);
            REQUIRE(read_ump({&word, 1}, again) == MidiRead::event);
            CHECK(bytes(again) == message);
        }
    for (const Bytes& message : {Bytes{0xf8}, {0xfa}, {0xfb}, {0xfc}, {0xf2, 5, 100}}) {
        ControlEvent read, again;
        REQUIRE(read_midi(message, read) == MidiRead::event);
        CHECK(bytes(read) == message);
        const uint32_t word = write_ump(read);
        REQUIRE(read_ump({&word, 1}, again) == MidiRead::event);
        CHECK(bytes(again) == message);
    }
}

TEST_CASE("whatever comes, an event is in range") {
    std::mt19937 random(1);
    for (int i = 0; i < 200000; ++i) {
        std::vector<uint8_t> bytes(random() % 5);
        for (uint8_t& byte : bytes)
            byte = uint8_t(random());
        std::vector<uint32_t> words(random() % 5);
        for (uint32_t& word : words)
            word = random();
        for (const bool packet : {false, true}) {
            ControlEvent event;
            if ((packet ? read_ump(words, event) : read_midi(bytes, event)) != MidiRead::event)
                continue;
            CHECK(event.channel < 16);
            CHECK(event.number < (event.kind == Kind::parameter || event.kind == Kind::own_parameter ? 16384 : 128));
            CHECK(event.value >= (event.kind == Kind::bend || event.kind == Kind::note_bend ? -1.f : 0.f));
            CHECK(event.value <= (event.kind == Kind::song_position ? 16383.f : 1.f));
        }
    }
}

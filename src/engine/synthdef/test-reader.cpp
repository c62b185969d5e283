// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/reader.hpp"

#include "engine/synthdef/test-support.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace scs;
using test::Bytes;
using test::example;
using test::write_synthdefs;

namespace {

Bytes file(int version = 2) {
    const SynthDef def = example();
    return write_synthdefs({&def, 1}, version);
}

std::string error_of(const Bytes& bytes) {
    auto read = read_synthdefs(bytes);
    REQUIRE_FALSE(read);
    return read.error();
}

void put32(Bytes& bytes, size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i)
        bytes[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

} // namespace

TEST_CASE("all versions say the same") {
    for (int version : {1, 2, 3}) {
        CAPTURE(version);
        auto read = read_synthdefs(file(version));
        REQUIRE(read);
        REQUIRE(read.value().size() == 1);
        const SynthDef& def = read.value()[0];
        CHECK(def.name == "example");
        CHECK(def.constants == example().constants);
        CHECK(def.controls == example().controls);
        CHECK(def.control_names == example().control_names);
        CHECK(def.units == example().units);
        REQUIRE(def.variants.size() == 1);
        CHECK(def.variants[0].name == "example.low");
        CHECK(def.variants[0].values == example().variants[0].values);
    }
}

TEST_CASE("a file may hold several definitions, or none") {
    std::vector<SynthDef> defs{example(), example(), example()};
    defs[1].name = "second";
    for (int version : {1, 2, 3}) {
        CAPTURE(version);
        auto read = read_synthdefs(write_synthdefs(defs, version));
        REQUIRE(read);
        REQUIRE(read.value().size() == 3);
        CHECK(read.value()[1].name == "second");
        CHECK(read.value()[2].units == example().units);

        auto none = read_synthdefs(write_synthdefs({}, version));
        REQUIRE(none);
        CHECK(none.value().empty());
    }
}

TEST_CASE("bytes after the last definition are ignored") {
    Bytes bytes = file();
    bytes.resize(bytes.size() + 3);
    CHECK(read_synthdefs(bytes));
}

TEST_CASE("other versions are refused by name") {
    Bytes bytes = file();
    put32(bytes, 4, 4);
    CHECK(error_of(bytes) == "SCgf version 4 is not supported at byte 4");
    put32(bytes, 4, 0);
    CHECK(error_of(bytes) == "SCgf version 0 is not supported at byte 4");
}

TEST_CASE("what is no SynthDef file is refused") {
    CHECK(error_of({}) == "the file ends within the magic number at byte 0");
    Bytes bytes = file();
    bytes[0] = std::byte{'R'};
    CHECK(error_of(bytes) == "not a SynthDef file: no 'SCgf' at byte 0");
}

TEST_CASE("every proper beginning of a file is refused") {
    for (int version : {1, 2, 3}) {
        const Bytes whole = file(version);
        for (size_t size = 0; size < whole.size(); ++size) {
            CAPTURE(size);
            const std::string error = error_of(Bytes(whole.begin(), whole.begin() + ptrdiff_t(size)));
            CHECK_FALSE(error.empty());
        }
    }
}

TEST_CASE("counts are checked against the bytes that remain") {
    Bytes bytes = file();
    const size_t constants_at = 10 + 1 + 7; // after the count of definitions and the name
    put32(bytes, constants_at, 0x7fffffff);
    CHECK(error_of(bytes).starts_with("definition 0 'example': 2147483647 constants, but "));
    CHECK(error_of(bytes).ends_with(" bytes remain, at byte 18"));
    put32(bytes, constants_at, 0xffffffff);
    CHECK(error_of(bytes).starts_with("definition 0 'example': -1 constants, but "));

    Bytes many = file();
    many[8] = many[9] = std::byte{0x7f};
    CHECK(error_of(many).starts_with("32639 definitions, but "));
}

TEST_CASE("version 3 has blocks and rates") {
    std::vector<SynthDef> defs{example(), example()};
    defs[0].own_rate = {128, 1, 2.f, 2};
    defs[1].own_rate = {-1, 0, -1.f, 2};
    auto read = read_synthdefs(write_synthdefs(defs, 3));
    REQUIRE(read);
    CHECK(read.value()[0].own_rate == OwnRate{128, 1, 2.f, 2});
    CHECK(read.value()[1].own_rate == OwnRate{-1, 0, -1.f, 2});
    CHECK(read_synthdefs(write_synthdefs(defs, 2)).value()[0].own_rate == OwnRate{});
}

TEST_CASE("a definition of version 3 ends where its size says") {
    std::vector<SynthDef> defs{example(), example()};
    defs[1].name = "second";
    auto read = read_synthdefs(write_synthdefs(defs, 3, 5));
    REQUIRE(read);
    REQUIRE(read.value().size() == 2);
    CHECK(read.value()[1].name == "second");
    CHECK(read.value()[1].units == example().units);
    CHECK(read.value()[1].own_rate == OwnRate{});

    Bytes bytes = write_synthdefs(defs, 3);
    const size_t first_at = 10, first_size = write_synthdefs({defs.data(), 1}, 3).size() - first_at;
    for (uint32_t size : {0u, 3u, 0x80000000u, 0xffffffffu, uint32_t(bytes.size() - first_at + 1)}) {
        CAPTURE(size);
        put32(bytes, first_at, size);
        CHECK(error_of(bytes).starts_with("definition 0: a definition of " + std::to_string(int32_t(size)) +
                                          " bytes, but "));
    }
    // No part of it is read beyond its size, though the file goes on.
    for (uint32_t size = 4; size < first_size; ++size) {
        CAPTURE(size);
        put32(bytes, first_at, size);
        const std::string error = error_of(bytes);
        CHECK((error.find("the definition's size ends within") != error.npos || error.find("remain,") != error.npos));
    }
}

TEST_CASE("errors within a unit name it") {
    SynthDef def = example();
    def.units[1].rate = static_cast<Rate>(7);
    const std::string error = error_of(write_synthdefs({&def, 1}, 2));
    CHECK(error.starts_with("definition 0 'example', unit 1 'SinOsc': the unit's rate is 7, not 0 to 3, at byte "));

    def = example();
    def.units[1].inputs[0].unit = -2;
    CHECK(error_of(write_synthdefs({&def, 1}, 1))
              .starts_with("definition 0 'example', unit 1 'SinOsc': an input refers to unit -2, "
                           "index 0, at byte "));
}

TEST_CASE("unprintable names don't get into error texts") {
    SynthDef def = example();
    def.name = "a\nb";
    def.units[0].name = "\x80";
    def.units[0].rate = static_cast<Rate>(9);
    CHECK(error_of(write_synthdefs({&def, 1}, 2)).starts_with("definition 0 'a?b', unit 0 '?': "));
}

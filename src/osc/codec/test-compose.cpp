// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/test-packets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace scs::osc;
using namespace scs::osc::test;

namespace {

/// All messages of a record as text, composed and decoded again.
std::string through(std::span<const std::byte> record) {
    std::string out;
    ReplyComposer composer;
    ReplyReader reader(record);
    while (reader.next_message()) {
        std::vector<ReplyArg> args;
        while (const auto arg = reader.next_arg())
            args.push_back(*arg);
        const auto bytes = composer.compose(reader.address(), args);
        REQUIRE(bytes);
        const auto packet = decode(bytes.value());
        REQUIRE(packet);
        const Message& message = packet.value().messages()[0];
        out += std::string(message.address) + "(";
        for (const Arg& arg : message.args) {
            out += char(arg.type);
            if (arg.type == Arg::Type::int32)
                out += std::to_string(arg.i);
            if (arg.type == Arg::Type::float32)
                out += std::to_string(arg.f);
            if (arg.type == Arg::Type::float64)
                out += std::to_string(arg.d);
            if (arg.type == Arg::Type::string)
                out += arg.text();
            out += " ";
        }
        out += ")";
    }
    return out;
}

} // namespace

TEST_CASE("a reply has the bytes that the protocol asks for") {
    ReplyComposer composer;
    const std::byte blob[] = {std::byte{1}, std::byte{2}, std::byte{3}};
    const ReplyArg args[] = {int32_t{-2}, 0.5f, 1.5, std::string_view("abcd"), std::span<const std::byte>(blob)};
    const auto bytes = composer.compose("/done", args);
    REQUIRE(bytes);
    CHECK(Bytes(bytes.value().begin(), bytes.value().end()) ==
          join({str("/done"), str(",ifdsb"), be32(0xfffffffe), be32(0x3f000000), be64(0x3ff8000000000000), str("abcd"),
                be32(3), be32(0x01020300)}));
}

TEST_CASE("replies without arguments, with empty ones, cut at a NUL") {
    ReplyComposer composer;
    auto bytes = composer.compose("/x", {});
    REQUIRE(bytes);
    CHECK(Bytes(bytes.value().begin(), bytes.value().end()) == join({str("/x"), str(",")}));
    const ReplyArg args[] = {std::string_view(), std::string_view("a\0b", 3)};
    bytes = composer.compose(std::string_view("/y\0z", 4), args);
    REQUIRE(bytes);
    CHECK(Bytes(bytes.value().begin(), bytes.value().end()) == join({str("/y"), str(",ss"), str(""), str("a")}));
    const ReplyArg no_blob[] = {std::span<const std::byte>()};
    CHECK_FALSE(composer.compose("/z", no_blob));
    CHECK_FALSE(composer.compose("", {}));
    CHECK_FALSE(composer.compose(std::string_view("\0/z", 3), {}));
}

TEST_CASE("records carry several messages in order") {
    std::array<std::byte, 256> room;
    ReplyWriter writer(room);
    writer.begin("/n_go");
    writer.add(int32_t{1000});
    writer.add(int32_t{-1});
    writer.begin("/synced");
    writer.begin("/mixed");
    writer.add(0.25f);
    writer.add(-0.125);
    writer.add("");
    writer.add(std::string_view("te\0xt", 5));
    CHECK_FALSE(writer.overflowed());
    CHECK(through(writer.bytes()) == "/n_go(i1000 i-1 )/synced()/mixed(f0.250000 d-0.125000 s ste )");
    writer.clear();
    CHECK(through(writer.bytes()) == "");
}

TEST_CASE("what is unread of a message is skipped") {
    std::array<std::byte, 64> room;
    ReplyWriter writer(room);
    writer.begin("/a");
    writer.add(int32_t{1});
    writer.add("text");
    writer.begin("/b");
    writer.add(int32_t{2});
    ReplyReader reader(writer.bytes());
    REQUIRE(reader.next_message());
    CHECK(reader.address() == "/a");
    REQUIRE(reader.next_message());
    CHECK(reader.address() == "/b");
    CHECK(std::get<int32_t>(*reader.next_arg()) == 2);
    CHECK_FALSE(reader.next_arg());
    CHECK_FALSE(reader.next_message());
}

TEST_CASE("a writer never goes past its room, whatever the room") {
    for (size_t size = 0; size < 80; ++size) {
        std::vector<std::byte> room(size + 8, std::byte{0xa5});
        ReplyWriter writer({room.data(), size});
        writer.begin("/first");
        writer.add(int32_t{1});
        writer.begin("/second");
        writer.add(2.0f);
        writer.add(3.0);
        writer.add("four");
        for (size_t i = size; i < room.size(); ++i)
            CHECK(room[i] == std::byte{0xa5});
        // Sizes: 4 + 7 + 5, then 4 + 8 + 5 + 9 + 9.
        CHECK(writer.overflowed() == (size < 51));
        CHECK(writer.bytes().size() == (size < 51 ? 0 : 51));
    }
}

TEST_CASE("an overflow lasts until clear") {
    std::array<std::byte, 16> room;
    ReplyWriter writer(room);
    writer.begin("/a");
    writer.add("a text that is longer than the room");
    CHECK(writer.overflowed());
    writer.add(int32_t{1});
    writer.begin("/b");
    CHECK(writer.overflowed());
    CHECK(writer.bytes().empty());
    writer.clear();
    writer.begin("/b");
    CHECK(through(writer.bytes()) == "/b()");
}

TEST_CASE("writing out of turn counts as an overflow") {
    std::array<std::byte, 64> room;
    ReplyWriter argument_first(room);
    argument_first.add(int32_t{1});
    CHECK(argument_first.overflowed());
    ReplyWriter no_address(room);
    no_address.begin("");
    CHECK(no_address.overflowed());
    ReplyWriter null_address(room);
    null_address.begin(nullptr);
    CHECK(null_address.overflowed());
    ReplyWriter no_room({});
    no_room.begin("/a");
    CHECK(no_room.overflowed());
}

TEST_CASE("a garbled record ends before what is garbled") {
    std::array<std::byte, 128> room;
    ReplyWriter writer(room);
    writer.begin("/a");
    writer.begin("/b");
    writer.add(int32_t{1});
    writer.add("text");
    const std::vector<std::byte> good(writer.bytes().begin(), writer.bytes().end());
    for (size_t size = 1; size < good.size(); ++size)
        CHECK(through({good.data(), size}) == (size < 7 ? "" : "/a()"));
    // Whatever a byte turns into, reading stays inside.
    for (size_t at = 0; at < good.size(); ++at) {
        for (int value = 0; value < 256; ++value) {
            std::vector<std::byte> garbled = good;
            garbled[at] = std::byte(value);
            ReplyReader reader(garbled);
            size_t steps = 0;
            const auto* end = reinterpret_cast<const char*>(garbled.data() + garbled.size());
            bool inside = true;
            while (reader.next_message()) {
                while (const auto arg = reader.next_arg()) {
                    ++steps;
                    if (const auto* text = std::get_if<std::string_view>(&*arg))
                        inside = inside && text->size() <= good.size() && text->data() + text->size() <= end;
                }
            }
            CHECK(inside);
            CHECK(steps <= good.size());
        }
    }
}

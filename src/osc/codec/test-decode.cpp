// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/decode.hpp"
#include "osc/codec/test-packets.hpp"

#include <doctest/doctest.h>
#include <lo/lo.h>

#include <cmath>
#include <string>
#include <utility>

using namespace scs::osc;
using namespace scs::osc::test;
using Type = Arg::Type;

namespace {

Packet decoded(const Bytes& bytes) {
    auto result = decode(bytes);
    if (!result)
        FAIL(result.error());
    return std::move(result.value());
}

Bytes serialise(lo_message message, const char* address) {
    Bytes out(lo_message_length(message, address));
    lo_message_serialise(message, address, out.data(), nullptr);
    lo_message_free(message);
    return out;
}

} // namespace

TEST_CASE("a message of every type that liblo writes") {
    lo_message m = lo_message_new();
    lo_message_add_int32(m, -7);
    lo_message_add_float(m, 0.1f);
    lo_message_add_double(m, -1e300);
    lo_message_add_int64(m, INT64_MIN);
    lo_message_add_timetag(m, {0x01020304u, 0x05060708u});
    lo_message_add_string(m, "four");
    lo_message_add_symbol(m, "");
    lo_blob blob = lo_blob_new(5, "a\0b\0c");
    lo_message_add_blob(m, blob);
    lo_blob_free(blob);
    lo_message_add_true(m);
    lo_message_add_false(m);
    lo_message_add_nil(m);
    lo_message_add_infinitum(m);
    lo_message_add_char(m, 'x');
    uint8_t midi[4] = {1, 0x90, 60, 127};
    lo_message_add_midi(m, midi);

    const Packet packet = decoded(serialise(m, "/all"));
    CHECK_FALSE(packet.is_bundle());
    REQUIRE(packet.bundles().size() == 1);
    CHECK(packet.bundles()[0].time == scs::immediately);
    REQUIRE(packet.messages().size() == 1);
    const Message& message = packet.messages()[0];
    CHECK(message.address == "/all");
    CHECK(message.name() == "all");
    CHECK(message.number == -1);
    const auto args = message.args;
    REQUIRE(args.size() == 14);
    const Type types[] = {Type::int32,  Type::float32,   Type::float64, Type::int64, Type::timetag,
                          Type::string, Type::string,    Type::blob,    Type::true_, Type::false_,
                          Type::nil,    Type::infinitum, Type::chr,     Type::midi};
    for (size_t i = 0; i < args.size(); ++i)
        CHECK(args[i].type == types[i]);
    CHECK(args[0].i == -7);
    CHECK(args[1].f == 0.1f);
    CHECK(args[2].d == -1e300);
    CHECK(args[3].h == INT64_MIN);
    CHECK(args[4].t == 0x0102030405060708u);
    CHECK(args[5].text() == "four");
    CHECK(args[5].s[4] == '\0');
    CHECK(args[6].text().empty());
    REQUIRE(args[7].size == 5);
    CHECK(args[7].bytes()[2] == std::byte{'b'});
    CHECK(args[12].i == 'x');
    CHECK(args[13].quad == std::array<uint8_t, 4>{1, 0x90, 60, 127});
}

TEST_CASE("a bundle that liblo writes keeps order and time") {
    lo_bundle b = lo_bundle_new({5, 9});
    for (int i = 0; i < 3; ++i) {
        lo_message m = lo_message_new();
        lo_message_add_int32(m, i);
        if (i == 1)
            lo_message_add_string(m, "x");
        lo_bundle_add_message(b, i == 0 ? "/a" : i == 1 ? "/bb" : "/ccc", m);
    }
    Bytes bytes(lo_bundle_length(b));
    lo_bundle_serialise(b, bytes.data(), nullptr);
    lo_bundle_free_recursive(b);

    const Packet packet = decoded(bytes);
    CHECK(packet.is_bundle());
    std::string seen;
    for_each_message(packet, [&](const PacketBundle& bundle, const Message& message) {
        CHECK(bundle.time == (uint64_t{5} << 32 | 9));
        seen += std::string(message.address) + std::to_string(message.args[0].i) + "," +
                std::to_string(message.args.size()) + " ";
    });
    CHECK(seen == "/a0,1 /bb1,2 /ccc2,1 ");
}

TEST_CASE("integer commands") {
    const Packet packet = decoded(join({be32(9), str(",s"), str("default")}));
    const Message& message = packet.messages()[0];
    CHECK(message.number == 9);
    CHECK(message.address.empty());
    CHECK(message.args[0].text() == "default");
    CHECK(decoded(be32(0)).messages()[0].number == 0);
    CHECK(decoded(be32(0x00ffffff)).messages()[0].number == 0x00ffffff);
}

TEST_CASE("a message without type tags has no arguments, and needs no slash") {
    for (const char* address : {"/status", "status"}) {
        const Packet packet = decoded(str(address));
        CHECK(packet.messages()[0].address == address);
        CHECK(packet.messages()[0].name() == "status");
        CHECK(packet.messages()[0].args.empty());
    }
    CHECK(decoded(join({str("/x"), str(",")})).messages()[0].args.empty());
    CHECK(decoded(str("//x")).messages()[0].name() == "/x");
}

TEST_CASE("arrays, nested and empty") {
    const Packet packet = decoded(join({be32(9), str(",i[f[]]r"), be32(1), be32(0x40000000), be32(0x01020380)}));
    const auto args = packet.messages()[0].args;
    REQUIRE(args.size() == 7);
    CHECK(args[1].type == Type::array_begin);
    CHECK(args[2].f == 2.0f);
    CHECK(args[5].type == Type::array_end);
    CHECK(args[6].type == Type::rgba);
    CHECK(args[6].quad[3] == 0x80);
}

TEST_CASE("nested bundles follow the messages beside them and keep their own time") {
    const Packet packet = decoded(
        bundle(10, {bundle(20, {str("c"), bundle(30, {}), str("d")}), str("a"), bundle(40, {str("e")}), str("b")}));
    std::string seen;
    for (const PacketBundle& bundle : packet.bundles()) {
        seen += std::to_string(bundle.time) + ":";
        for (const Message& message : bundle.messages) {
            seen += message.address;
        }
        seen += " ";
    }
    CHECK(seen == "10:ab 20:cd 30: 40:e ");
    CHECK(packet.messages().size() == 5);
}

TEST_CASE("an empty bundle is a bundle without messages") {
    const Packet packet = decoded(bundle(7, {}));
    CHECK(packet.is_bundle());
    REQUIRE(packet.bundles().size() == 1);
    CHECK(packet.bundles()[0].time == 7);
    CHECK(packet.messages().empty());
}

TEST_CASE("a packet owns its bytes and may move") {
    Bytes bytes = bundle(1, {join({str("/x"), str(",sb"), str("text"), be32(1), be32(0x7a000000)})});
    Packet first = decoded(bytes);
    const char* text = first.messages()[0].args[0].s;
    const Bytes copy = bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
    const Packet second = std::move(first);
    CHECK(second.bundles()[0].messages[0].args[0].s == text);
    CHECK(std::string(text) == "text");
    CHECK(second.messages()[0].args[1].bytes()[0] == std::byte{'z'});
    CHECK(Bytes(second.bytes().begin(), second.bytes().end()) == copy);
}

TEST_CASE("padding may hold anything, as in scsynth") {
    const Packet packet = decoded(raw(std::string_view("/x\0!,s\0?a\0??", 12)));
    CHECK(packet.messages()[0].args[0].text() == "a");
}

TEST_CASE("the last blob may lack its padding, as in scsynth") {
    // As supercolliderjs sends a SynthDef, with a nil for the completion message.
    const Bytes bytes = raw(std::string_view("/d_recv\0,bN\0\0\0\0\5hello", 21));
    const Packet packet = decoded(bytes);
    const auto args = packet.messages()[0].args;
    REQUIRE(args.size() == 2);
    CHECK(args[0].bytes().size() == 5);
    CHECK(args[0].bytes()[4] == std::byte{'o'});
    CHECK(args[1].type == Type::nil);

    // Nothing else may: not in a bundle, not before another argument, not what isn't a blob.
    CHECK_FALSE(decode(join({raw(std::string_view("#bundle\0\0\0\0\0\0\0\0\1\0\0\0\x15", 20)), bytes})));
    CHECK_FALSE(decode(raw(std::string_view("/d_recv\0,bi\0\0\0\0\1x\0\0\0\1", 21))));
    CHECK_FALSE(decode(raw(std::string_view("/d_recv\0,bs\0\0\0\0\4xxxxa", 21))));
}

TEST_CASE("times 0 and 1 mean now") {
    CHECK(is_immediate(0));
    CHECK(is_immediate(1));
    CHECK_FALSE(is_immediate(2));
}

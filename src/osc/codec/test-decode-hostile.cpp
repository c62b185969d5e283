// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/decode.hpp"
#include "osc/codec/dump.hpp"
#include "osc/codec/test-packets.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace scs::osc;
using namespace scs::osc::test;

namespace {

std::string error_of(const Bytes& bytes) {
    const auto result = decode(bytes);
    return result ? "(accepted)" : result.error();
}

/// Reads all that a packet points to, so that a sanitizer sees it, and checks that the tables fit
/// together. Returns how many arguments there are.
size_t inspect(const Packet& packet) {
    const std::byte* begin = packet.bytes().data();
    const std::byte* end = begin + packet.bytes().size();
    const auto inside = [&](const void* data, size_t size) {
        const auto* at = static_cast<const std::byte*>(data);
        return at >= begin && size <= size_t(end - at);
    };
    size_t bad = 0;
    size_t args = 0;
    size_t messages = 0;
    for_each_message(packet, [&](const PacketBundle&, const Message& message) {
        ++messages;
        bad += message.number < -1 || (message.number == -1) != !message.address.empty();
        bad += message.number == -1 && !inside(message.address.data(), message.address.size() + 1);
        int open = 0;
        for (const Arg& arg : message.args) {
            ++args;
            open += (arg.type == Arg::Type::array_begin) - (arg.type == Arg::Type::array_end);
            bad += open < 0;
            if (arg.type == Arg::Type::string)
                bad += !inside(arg.s, arg.size + 1) || std::string(arg.s) != arg.text();
            if (arg.type == Arg::Type::blob)
                bad += !inside(arg.b, arg.size);
        }
        bad += open != 0;
    });
    bad += messages != packet.messages().size() || packet.bundles().empty();
    CHECK(bad == 0);
    CHECK(to_text(packet).size() <= 64 * packet.bytes().size());
    return args;
}

} // namespace

TEST_CASE("packets of a wrong size") {
    CHECK(error_of({}) == "empty packet at byte 0");
    CHECK(error_of(raw("/ab")) == "packet size is no multiple of 4: it ends at byte 3");
    CHECK(error_of(join({str("/x"), raw("!")})) == "packet size is no multiple of 4: it ends at byte 5");
}

TEST_CASE("strings without NUL") {
    CHECK(error_of(raw("/abc")) == "address without NUL at byte 0");
    CHECK(error_of(join({str("/x"), raw(",iii")})) == "type tag string without NUL at byte 4");
    CHECK(error_of(join({str("/x"), str(",s"), raw("abcd")})) == "string without NUL at byte 8");
    CHECK(error_of(join({str("/x"), str(",s")})) == "string missing at byte 8");
    // The next element's NUL is no help.
    CHECK(error_of(bundle(1, {raw("/abc"), str("/x")})) == "address without NUL at byte 20");
}

TEST_CASE("type tags") {
    CHECK(error_of(join({str("/foobar"), str(",iq"), be32(0)})) == "type tag 'q' unknown at byte 10");
    CHECK(error_of(join({str("/x"), str(",\x1b")})) == "type tag 0x1b unknown at byte 5");
    CHECK(error_of(join({str("/x"), str(",\xff")})) == "type tag 0xff unknown at byte 5");
    CHECK(error_of(join({str("/x"), be32(5)})) == "arguments without type tags at byte 4");
    CHECK(error_of(join({be32(9), str("default")})) == "arguments without type tags at byte 4");
}

TEST_CASE("arguments cut short") {
    for (const char tag : std::string("ifcmr"))
        CHECK(error_of(join({str("/x"), str(std::string(",") + tag)})) ==
              std::string("argument '") + tag + "' cut short at byte 8");
    for (const char tag : std::string("dht"))
        CHECK(error_of(join({str("/x"), str(std::string(",") + tag), be32(0)})) ==
              std::string("argument '") + tag + "' cut short at byte 8");
}

TEST_CASE("blobs of a wrong size") {
    const Bytes head = join({str("/x"), str(",b")});
    CHECK(error_of(head) == "argument 'b' cut short at byte 8");
    CHECK(error_of(join({head, be32(1)})) == "blob of size 1 with 0 bytes left at byte 8");
    CHECK(error_of(join({head, be32(9), be64(0)})) == "blob of size 9 with 8 bytes left at byte 8");
    CHECK(error_of(join({head, be32(0xffffffff), be32(0)})) == "blob of size -1 with 4 bytes left at byte 8");
    CHECK(error_of(join({head, be32(0x7fffffff), be32(0)})) == "blob of size 2147483647 with 4 bytes left at byte 8");
    CHECK(error_of(join({head, be32(0)})) == "(accepted)");
}

TEST_CASE("bytes after the last argument") {
    CHECK(error_of(join({str("/x"), str(",i"), be32(1), be32(2)})) == "4 bytes after the last argument at byte 12");
    CHECK(error_of(join({str("/x"), str(","), be32(2)})) == "4 bytes after the last argument at byte 8");
}

TEST_CASE("brackets that do not balance") {
    // Hangs scsynth 3.13.
    CHECK(error_of(join({str("/s_new"), str(",siiis[[[f"), str("default"), be32(1), be32(0), be32(0), str("freq"),
                         be32(0)})) == "type tag '[' without ']' at byte 14");
    CHECK(error_of(join({str("/x"), str(",[")})) == "type tag '[' without ']' at byte 5");
    CHECK(error_of(join({str("/x"), str(",[]]")})) == "type tag ']' without '[' at byte 7");
    CHECK(error_of(join({str("/x"), str(",][")})) == "type tag ']' without '[' at byte 5");
}

TEST_CASE("bundle headers and element sizes") {
    const Bytes head = bundle(1, {});
    CHECK(error_of(str("#bundle")) == "bundle without time tag at byte 0");
    CHECK(error_of(join({str("#bundle"), be32(0)})) == "bundle without time tag at byte 0");
    // Hangs scsynth and supernova 3.13.
    CHECK(error_of(join({head, be32(0xfffffffc), str("/x")})) == "bundle element of size -4 at byte 16");
    CHECK(error_of(join({head, be32(0x80000000), str("/x")})) == "bundle element of size -2147483648 at byte 16");
    CHECK(error_of(join({head, be32(0)})) == "bundle element of size 0 at byte 16");
    CHECK(error_of(join({head, be32(3), str("/x")})) == "bundle element size 3 is no multiple of 4 at byte 16");
    CHECK(error_of(join({head, be32(8), str("/x")})) == "bundle element size 8 exceeds the 4 bytes left at byte 16");
    CHECK(error_of(join({head, be32(0x7ffffffc), str("/x")})) ==
          "bundle element size 2147483644 exceeds the 4 bytes left at byte 16");
    CHECK(error_of(join({head, be32(4)})) == "bundle element size 4 exceeds the 0 bytes left at byte 16");
    // An inner bundle cannot reach into the outer one.
    CHECK(error_of(bundle(1, {join({head, be32(4)}), str("/x")})) ==
          "bundle element size 4 exceeds the 0 bytes left at byte 36");
}

TEST_CASE("one bad element rejects the whole bundle") {
    CHECK(error_of(bundle(1, {str("/good"), raw("/bad")})) == "address without NUL at byte 32");
    CHECK(error_of(bundle(1, {bundle(1, {raw("/bad")}), str("/good")})) == "address without NUL at byte 40");
}

TEST_CASE("bundles nested too deep") {
    CHECK(error_of(nested_bundles(max_bundle_depth)) == "(accepted)");
    CHECK(error_of(nested_bundles(max_bundle_depth + 1)) == "bundles nested more than 16 deep at byte 320");
    CHECK(error_of(nested_bundles(2000)) == "bundles nested more than 16 deep at byte 320");
}

TEST_CASE("more elements than the limit") {
    const Bytes element = join({be32(4), be32(1)});
    Bytes packet = bundle(1, {});
    for (size_t i = 0; i < max_elements; ++i)
        append(packet, element);
    CHECK(error_of(packet) == "(accepted)");
    append(packet, element);
    CHECK(error_of(packet) == "more than 65536 bundle elements at byte " + std::to_string(16 + 8 * max_elements));
}

TEST_CASE("more arguments than the limit") {
    const std::string half(max_arguments / 2, 'T');
    const Bytes message = join({be32(1), str("," + half)});
    CHECK(error_of(bundle(1, {message, message})) == "(accepted)");
    CHECK(error_of(bundle(1, {message, message, join({be32(1), str(",T")})})) ==
          "more than 1048576 arguments at byte " + std::to_string(16 + 2 * (4 + message.size()) + 9));
}

TEST_CASE("a datagram full of arguments") {
    const auto packet = decode(join({be32(1), str("," + std::string(65000, 'N'))}));
    REQUIRE(packet);
    CHECK(inspect(packet.value()) == 65000);
}

TEST_CASE("mutated packets are decoded whole or rejected") {
    const Bytes seeds[] = {
        join({str("/s_new"), str(",siiis[ff]sf"), str("default"), be32(1000), be32(0), be32(1), str("freq"),
              be32(0x43dc0000), be32(0x43dd0000), str("amp"), be32(0x3dcccccd)}),
        join({be32(5), str(",bb"), be32(6), str("SCgf00"), be32(8), str("/sync")}),
        join({str("/all"), str(",dhtcmrTFNIS[[]]"), be64(1), be64(2), be64(3), be32(4), be32(5), be32(6),
              str("symbol")}),
        bundle(1, {join({be32(15), str(",isf"), be32(1), str("f"), be32(0)}),
                   bundle(0x1122334455667788, {str("/status"), bundle(1, {})}), str("/quit")}),
        nested_bundles(20),
    };
    std::mt19937 random(20260101);
    size_t accepted = 0;
    size_t rejected = 0;
    for (int round = 0; round < 50000; ++round) {
        Bytes bytes = seeds[random() % std::size(seeds)];
        for (auto edits = 1 + random() % 4; edits-- > 0 && !bytes.empty();) {
            const size_t at = random() % bytes.size();
            const auto word = ptrdiff_t(at / 4 * 4);
            switch (random() % 6) {
            case 0: bytes[at] = std::byte(random()); break;
            case 1: bytes[at] ^= std::byte(1u << random() % 8); break;
            case 2: {
                constexpr char tags[] = ",ifdhtsSbTFNIcmr[]#/";
                bytes[at] = std::byte(tags[random() % sizeof tags]);
                break;
            }
            case 3: bytes.resize(at); break;
            case 4: bytes.erase(bytes.begin() + word, bytes.begin() + word + 4); break;
            default: bytes.insert(bytes.begin() + word, 4, std::byte(random() % 2 * 0xff)); break;
            }
            bytes.resize(bytes.size() / 4 * 4);
        }
        const auto result = decode(bytes);
        if (result) {
            ++accepted;
            inspect(result.value());
        } else {
            ++rejected;
            const bool located = result.error().find(" at byte ") != std::string::npos;
            CHECK(located);
        }
    }
    // Both ways are taken often, or the test would say little.
    CHECK(accepted > 5000);
    CHECK(rejected > 5000);
    MESSAGE(accepted << " accepted, " << rejected << " rejected");
}

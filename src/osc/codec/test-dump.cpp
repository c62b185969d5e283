// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/dump.hpp"
#include "osc/codec/test-packets.hpp"

#include <doctest/doctest.h>

using namespace scs::osc;
using namespace scs::osc::test;

namespace {

std::string text_of(const Bytes& bytes) {
    const auto packet = decode(bytes);
    return packet ? to_text(packet.value()) : packet.error();
}

} // namespace

TEST_CASE("messages as text") {
    CHECK(text_of(join({str("/s_new"), str(",siii"), str("default"), be32(1000), be32(0), be32(1)})) ==
          "[ \"/s_new\", \"default\", 1000, 0, 1 ]\n");
    CHECK(text_of(join({be32(15), str(",if"), be32(0xffffffff), be32(0x3dcccccd)})) == "[ 15, -1, 0.1 ]\n");
    CHECK(text_of(str("/clearSched")) == "[ \"/clearSched\", ]\n");
    CHECK(text_of(join({str("x"), str(",[i[i]]s"), be32(1), be32(2), str("y")})) ==
          "[ \"x\", [ 1, [ 2, ], ], \"y\" ]\n");
    CHECK(text_of(join({str("/x"), str(",bdhtcTFNImr"), be32(3), be32(0), be64(0x3ff8000000000000), be64(UINT64_MAX),
                        be64(UINT64_MAX), be32('c'), be32(0x01f03c7f), be32(0xff000080)})) ==
          "[ \"/x\", DATA[3], 1.5, -1, 18446744073709551615, c, true, false, nil, infinitum, "
          "MIDI[0x01 0xf0 0x3c 0x7f], RGBA[0xff 0x00 0x00 0x80] ]\n");
}

TEST_CASE("control characters do not reach the terminal") {
    CHECK(text_of(join({str("/\x1b[2J"), str(",sc"), str("a\nb\x7f\xc3\xa9"), be32(7)})) ==
          "[ \"/\\x1b[2J\", \"a\\x0ab\\x7f\xc3\xa9\", ? ]\n");
}

TEST_CASE("bundles as a tree in the order of the bytes") {
    CHECK(text_of(bundle(1, {str("/a"), bundle(2, {str("/b"), bundle(3, {})}),
                             join({str("/c"), str(",i"), be32(5)})})) == "[ \"#bundle\", 1, \n"
                                                                         "  [ \"/a\", ],\n"
                                                                         "  [ \"#bundle\", 2, \n"
                                                                         "    [ \"/b\", ],\n"
                                                                         "    [ \"#bundle\", 3, \n"
                                                                         "    ]\n"
                                                                         "  ],\n"
                                                                         "  [ \"/c\", 5 ]\n"
                                                                         "]\n");
}

TEST_CASE("status polls are left out") {
    CHECK(text_of(str("/status")).empty());
    CHECK(text_of(str("status")).empty());
    CHECK(text_of(bundle(1, {str("/status"), str("/b")})) == "[ \"#bundle\", 1, \n"
                                                             "  \n"
                                                             "  [ \"/b\", ]\n"
                                                             "]\n");
}

TEST_CASE("bytes as hex") {
    CHECK(to_hex({}) == "size 0\n\n");
    CHECK(to_hex(join({str("/status"), be64(0x00ff41), raw("tail")})) ==
          "size 20\n"
          "   0   2f 73 74 61  74 75 73 00  00 00 00 00  00 00 ff 41   |/status........A|\n"
          "  16   74 61 69 6c                                          |tail|\n\n");
}

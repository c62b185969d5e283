// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/host-name.hpp"

#include <doctest/doctest.h>

using namespace scs::top;

TEST_CASE("a host, and a host with a port") {
    const auto plain = read_host("studio-2.local", 57120);
    REQUIRE(plain);
    CHECK(plain.value().host == "studio-2.local");
    CHECK(plain.value().port == 57120);
    const auto port = read_host("192.0.2.7:1", 57120);
    REQUIRE(port);
    CHECK(port.value().host == "192.0.2.7");
    CHECK(port.value().port == 1);
    CHECK(port.value().text() == "192.0.2.7:1");
    CHECK(read_host("a:65535", 1).value().port == 65535);
}

TEST_CASE("what is no host") {
    for (const char* text : {"", ":57110", ":", "::1", "a:b:1", "-t", "[::1]:57110"}) {
        CAPTURE(text);
        const auto found = read_host(text, 57110);
        REQUIRE_FALSE(found);
        CHECK(found.error() == std::string(text) + ": expected a host's name or IPv4 address, and a port if it isn't "
                                                   "57110, as in studio:57120");
    }
    for (const char* text : {"a:", "a:0", "a:65536", "a:1.5", "a:x", "a:-1", "a:nan"}) {
        CAPTURE(text);
        const auto found = read_host(text, 57110);
        REQUIRE_FALSE(found);
        CHECK(found.error() == std::string(text) + ": expected a port after the colon, 1 to 65535");
    }
}

TEST_CASE("addresses of names") {
    CHECK(address_of("192.0.2.7").value() == "192.0.2.7");
    CHECK(address_of("localhost").value().starts_with("127."));
    const auto none = address_of("no name.invalid");
    REQUIRE_FALSE(none);
    CHECK(none.error().starts_with("no name.invalid: no IPv4 address is known of this host ("));
    CHECK(none.error().find("getent ahostsv4 no name.invalid") != std::string::npos);
    CHECK_FALSE(address_of("::1"));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/options.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace scs::trace;

namespace {

using Arguments = std::vector<const char*>;

Options parse(const Arguments& arguments) {
    auto parsed = parse_options(arguments);
    REQUIRE(parsed);
    return parsed.value();
}

std::string error_of(Arguments arguments) {
    const auto parsed = parse_options(arguments);
    return parsed ? "" : parsed.error();
}

} // namespace

TEST_CASE("what is meant if only the file is said") {
    const Options options = parse({"-o", "a.json"});
    CHECK(options.file == "a.json");
    CHECK(options.name() == "127.0.0.1:57110");
    CHECK_FALSE(options.tcp);
    CHECK(options.seconds == 1);
    CHECK_FALSE(options.help);
}

TEST_CASE("the server and the time") {
    const Options udp = parse({"--seconds", "0.5", "-u", "57120", "-B", "192.0.2.7", "-o", "a"});
    CHECK(udp.name() == "192.0.2.7:57120");
    CHECK(udp.seconds == 0.5);
    const Options tcp = parse({"-t", "1", "-p", "secret", "-o", "a", "-o", "b"});
    CHECK(tcp.tcp);
    CHECK(tcp.password == "secret");
    CHECK(tcp.file == "b");
    CHECK(parse({"-h", "-x"}).help);
    CHECK(parse({"--help"}).help);
}

TEST_CASE("what is wrong is said") {
    CHECK(error_of({}) == "-o: expected a file to write");
    CHECK(error_of({"-o", ""}) == "-o: expected a file");
    CHECK(error_of({"-x"}) == "-x: no such option");
    CHECK(error_of({"a.json"}) == "a.json: no such option");
    for (const char* option : {"-u", "-t", "-B", "-p", "-o", "--seconds"})
        CHECK(error_of({option}) == std::string(option) + ": expected a value after it");
    for (const char* seconds : {"0", "0.009", "61", "-1", "soon", "", "inf", "1s"})
        CHECK(error_of({"-o", "a", "--seconds", seconds}) ==
              "--seconds " + std::string(seconds) + ": expected seconds, 0.01 to 60");
    CHECK(error_of({"-o", "a", "--seconds", "60", "--seconds", "0.01"}) == "");
    CHECK(error_of({"-u", "0"}) == "-u 0: expected a port, 1 to 65535");
    CHECK(error_of({"-o", "a", "-p", "word"}) == "-p: a password is for TCP, so the port is that of -t");
}

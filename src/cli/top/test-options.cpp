// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/options.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace scs::top;

namespace {

using Arguments = std::vector<const char*>;

Options parse(const Arguments& arguments) {
    auto parsed = parse_options(arguments);
    REQUIRE(parsed);
    return parsed.value();
}

std::string error_of(const Arguments& arguments) {
    const auto parsed = parse_options(arguments);
    return parsed ? "" : parsed.error();
}

} // namespace

TEST_CASE("what is meant if nothing is said") {
    const Options options = parse({});
    CHECK(options.host == "127.0.0.1");
    CHECK(options.port == 57110);
    CHECK_FALSE(options.tcp);
    CHECK(options.password.empty());
    CHECK(options.seconds == 1);
    CHECK_FALSE(options.once);
    CHECK_FALSE(options.json);
    CHECK_FALSE(options.help);
    CHECK(options.view.sort == Sort::cost);
    CHECK(options.view.depth == View::all_depths);
}

TEST_CASE("the server, the time and the view") {
    const Options udp = parse({"-u", "57120", "-B", "192.0.2.7", "-d", "0.5", "--once"});
    CHECK(udp.port == 57120);
    CHECK(udp.host == "192.0.2.7");
    CHECK(udp.seconds == 0.5);
    CHECK(udp.once);
    const Options tcp = parse({"-t", "1", "-p", "secret", "--json", "--sort", "name", "--filter", "deep"});
    CHECK(tcp.tcp);
    CHECK(tcp.port == 1);
    CHECK(tcp.password == "secret");
    CHECK(tcp.json);
    CHECK(tcp.view.sort == Sort::name);
    CHECK(tcp.view.filter == "deep");
    CHECK(parse({"--sort", "voices"}).view.sort == Sort::voices);
    CHECK_FALSE(parse({"-t", "5", "-u", "6"}).tcp); // the last one counts
    CHECK(parse({"-h", "-x"}).help);
    CHECK(parse({"--help"}).help);
}

TEST_CASE("words are hosts, whose port is that of the options unless they have one") {
    const Options options = parse({"studio-1", "-u", "57120", "192.0.2.7:57111", "--once"});
    REQUIRE(options.hosts.size() == 2);
    CHECK(options.hosts[0].text() == "studio-1:57120");
    CHECK(options.hosts[1].text() == "192.0.2.7:57111");
    CHECK(options.once);
    CHECK(parse({}).hosts.empty());
    CHECK(error_of({"studio:x"}) == "studio:x: expected a port after the colon, 1 to 65535");
    CHECK(error_of({"-B", "192.0.2.7", "studio"}) ==
          "-B 192.0.2.7: hosts are named as well; name this one as they are");
    Arguments many(257, "a");
    CHECK(error_of(many) == "a: there may be 256 hosts at most");
    many.pop_back();
    CHECK(parse(many).hosts.size() == 256);
}

TEST_CASE("options are written as getopt_long() reads them") {
    const Options options = parse({
        "-u57120",
        "--sort=name",
        "--fil",
        "a b",
        "-t",
        "1",
        "-p-x",
        "--",
    });
    CHECK(options.port == 1);
    CHECK(options.view.sort == Sort::name);
    CHECK(options.view.filter == "a b");
    CHECK(options.password == "-x");
    CHECK(error_of({"--once=yes"}) == "--once=yes: no such option");
    CHECK(error_of({"--none"}) == "--none: no such option");
    CHECK(error_of({"-u", "1", "--", "-t"}).starts_with("-t: expected a host's name"));
    CHECK(error_of({"--once", "more", "-x"}) == "-x: no such option"); // words are looked at last
    CHECK(parse({"--once", "more"}).hosts.size() == 1);
    CHECK(parse({"-hx"}).help);
}

TEST_CASE("who finds no server is told what fits the port's kind") {
    const auto told = [](bool tcp, const char* host = "127.0.0.1") {
        return how_to_find_server({.host = host, .port = 57110, .tcp = tcp}, "top", "others");
    };
    CHECK(told(true).find("another password") != std::string::npos);
    CHECK(told(true).find("pw-scsynth -t 57110 -p WORD") != std::string::npos);
    CHECK(told(false).find("pw-scsynth -u 57110") != std::string::npos);
    CHECK(told(false).find("another password") == std::string::npos);
    CHECK(told(false, "127.8.0.1") == told(false));
    CHECK(told(false).ends_with("\nothers"));
    for (const bool tcp : {false, true}) {
        const std::string remote = told(tcp, "192.0.2.7");
        CHECK(remote.starts_with("\na server that other machines reach"));
        CHECK(remote.find("scsynth.allow = any: then everyone who reaches it is obeyed, files included") !=
              std::string::npos);
        CHECK(remote.find("pw-scsynth -") == std::string::npos);
        CHECK(remote.find("others") == std::string::npos);
        CHECK((remote.find("another password") != std::string::npos) == tcp);
    }
}

TEST_CASE("what is wrong is said") {
    CHECK(error_of({"-x"}) == "-x: no such option");
    for (const char* option : {"-u", "-t", "-B", "-p", "-d", "--sort", "--filter"})
        CHECK(error_of({option}) == std::string(option) + ": expected a value after it");
    for (const char* port : {"0", "65536", "-1", "x", "", "1.5", "nan"})
        CHECK(error_of({"-u", port}) == "-u " + std::string(port) + ": expected a port, 1 to 65535");
    CHECK(error_of({"-u", "65535"}) == "");
    for (const char* seconds : {"0", "0.09", "3601", "soon", "", "inf"})
        CHECK(error_of({"-d", seconds}) == "-d " + std::string(seconds) + ": expected seconds, 0.1 to 3600");
    CHECK(error_of({"-d", "3600", "-d", "0.1"}) == "");
    CHECK(error_of({"-B", "here"}) == "-B here: expected an IPv4 address");
    CHECK(error_of({"--sort", "size"}) == "--sort size: expected cost, voices or name");
    const std::string longest(31, 'p'), longer(32, 'p');
    CHECK(error_of({"-t", "5", "-p", longest.c_str()}) == "");
    CHECK(error_of({"-t", "5", "-p", longer.c_str()}) == "-p: expected a password of at most 31 bytes");
    CHECK(error_of({"-t", "5", "-p", ""}) == "-p: expected a password of at most 31 bytes");
    CHECK(error_of({"-p", "word"}) == "-p: a password is for TCP, so the port is that of -t");
}

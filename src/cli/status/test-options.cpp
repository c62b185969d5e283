// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/options.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace scs::status;

TEST_CASE("what is meant if nothing is said, and if all is") {
    const auto nothing = parse_options(std::vector<const char*>{});
    REQUIRE(nothing);
    CHECK(nothing.value().name() == "127.0.0.1:57110");
    CHECK_FALSE(nothing.value().json);
    CHECK_FALSE(nothing.value().all);
    const auto all = parse_options(std::vector<const char*>{"--json", "-t", "57120", "-p", "word", "--all"});
    REQUIRE(all);
    CHECK(all.value().port == 57120);
    CHECK(all.value().tcp);
    CHECK(all.value().json);
    CHECK(all.value().all);
}

TEST_CASE("help names every option, others are refused") {
    const auto help = parse_options(std::vector<const char*>{"--help"});
    REQUIRE(help);
    CHECK(help.value().help);
    for (const char* option : {"-u", "-t", "-B", "-p", "-h", "--help", "--json", "--all"})
        CHECK(help_text().find(option) != std::string::npos);
    const auto wrong = parse_options(std::vector<const char*>{"--once"});
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error() == "--once: no such option");
}

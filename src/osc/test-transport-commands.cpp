// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-command-bench.hpp"

#include <limits>

using namespace scs::osc::test;

namespace {

std::string failure(const char* text) {
    return std::string("[ \"/fail\", \"/transport\", \"") + text + "\" ]\n";
}

const std::string nobody = failure("nobody drives the transport: pw-scsynth transport does");
const std::string nothing = "[ \"/transport_next.reply\", ]\n";

} // namespace

TEST_CASE("the one that drives the transport gets what clients want, in their order") {
    CommandBench bench;
    CHECK(bench("/transport", "start") == nobody);
    CHECK(bench("/transport_next") == nothing);
    CHECK(bench("/transport", "tempo", 2.5f) == "");
    CHECK(bench("/transport", "locate", 8) == "");
    CHECK(bench("/transport", "start") == "");
    CHECK(bench("/transport_next") == "[ \"/transport_next.reply\", \"tempo\", 2.5, \"locate\", 8, \"start\", 0 ]\n");
    CHECK(bench("/transport_next") == nothing);
    for (int i = 0; i < 16; ++i)
        CHECK(bench("/transport", "stop") == "");
    CHECK(bench("/transport", "stop") == failure("there are too many at once"));
    for (int i = 0; i < 2 * 48000 / 64 + 2; ++i) // it is gone
        bench.process();
    CHECK(bench("/transport", "start") == nobody);
    CHECK(bench("/transport_next") == nothing);
}

TEST_CASE("what waits when the one that drives the transport begins or ends is forgotten") {
    CommandBench bench;
    CHECK(bench("/transport_next", "begin") == nothing);
    CHECK(bench("/transport", "stop") == "");
    CHECK(bench("/transport_next", "begin") == nothing);
    CHECK(bench("/transport", "stop") == "");
    CHECK(bench("/transport_next", "end") == nothing);
    CHECK(bench("/transport", "stop") == nobody);
    CHECK(bench("/transport_next") == nothing);
}

TEST_CASE("what a transport can't do is a failure") {
    CommandBench bench;
    CHECK(bench("/transport_next", "pause") == "[ \"/fail\", \"/transport_next\", \"it is begin or end\" ]\n");
    CHECK(bench("/transport_next") == nothing);
    CHECK(bench("/transport") == failure("wrong argument type"));
    CHECK(bench("/transport", 1) == failure("wrong argument type"));
    CHECK(bench("/transport", "play") == failure("it is start, stop, locate or tempo"));
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    for (const float beat : {-1.f, 1.1e6f, nan, infinite})
        CHECK(bench("/transport", "locate", beat) == failure("a beat is 0 to 1000000"));
    CHECK(bench("/transport", "locate") == failure("a beat is 0 to 1000000"));
    for (const float tempo : {0.f, -1.f, 101.f, nan, infinite})
        CHECK(bench("/transport", "tempo", tempo) == failure("a tempo is 0.01 to 100 beats a second"));
    CHECK(bench("/transport", "tempo", "fast") == failure("a tempo is 0.01 to 100 beats a second"));
    CHECK(bench("/transport_next") == nothing);
}

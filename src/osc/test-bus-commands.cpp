// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-command-bench.hpp"

using namespace scs::osc::test;

TEST_CASE("control buses are set and read") {
    CommandBench bench;
    CHECK(bench("/c_set", 3, 0.5f, 5, 7) == "");
    CHECK(bench("/c_get", 3, 4, 5) == "[ \"/c_set\", 3, 0.5, 4, 0, 5, 7 ]\n");
    CHECK(bench("/c_setn", 0, 2, 1.f, 2.f, 16383, 1, 9.f) == "");
    CHECK(bench("/c_getn", 0, 3, 16383, 1) == "[ \"/c_setn\", 0, 3, 1, 2, 0, 16383, 1, 9 ]\n");
    CHECK(bench("/c_fill", -2, 4, 0.25f, 16382, 100, 3.f, 90000, 1, 1.f) == "");
    CHECK(bench("/c_getn", 0, 3, 16382, 2) == "[ \"/c_setn\", 0, 3, 0.25, 0.25, 0, 16382, 2, 3, 3 ]\n");
    CHECK(bench("/c_get") == "[ \"/c_set\", ]\n");
}

TEST_CASE("buses that aren't there are failures") {
    CommandBench bench;
    CHECK(bench("/c_set", 0, 1.f, 16384, 1.f, 1, 1.f) == "[ \"/fail\", \"/c_set\", \"index out of range\" ]\n");
    CHECK(bench("/c_get", 0, 1) == "[ \"/c_set\", 0, 1, 1, 0 ]\n"); // what came before was set
    CHECK(bench("/c_set", -1, 1.f) == "[ \"/fail\", \"/c_set\", \"index out of range\" ]\n");
    CHECK(bench("/c_get", 0, -1) == "[ \"/fail\", \"/c_get\", \"index out of range\" ]\n");
    for (auto [start, count] : {std::pair{16383, 2}, {-1, 1}, {0, 0}, {5, -3}, {2147483647, 2147483647}}) {
        CHECK(bench("/c_setn", start, count, 1.f, 1.f) == "[ \"/fail\", \"/c_setn\", \"index out of range\" ]\n");
        if (count < 100000)
            CHECK(bench("/c_getn", start, count) == "[ \"/fail\", \"/c_getn\", \"index out of range\" ]\n");
    }
}

TEST_CASE("a reply too large for a datagram is a failure") {
    CommandBench bench;
    CHECK(bench("/c_getn", 0, 13096).size() > 13096);
    CHECK(bench("/c_getn", 0, 13097) == "[ \"/fail\", \"/c_getn\", \"buffer overflow\" ]\n");
    CHECK(bench("/c_getn", 0, 2147483647) == "[ \"/fail\", \"/c_getn\", \"buffer overflow\" ]\n");
    CHECK(bench("/c_getn", 0, 20000) == "[ \"/fail\", \"/c_getn\", \"index out of range\" ]\n");
}

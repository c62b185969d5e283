// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-command-bench.hpp"

#include <limits>
#include <span>
#include <vector>

using namespace scs::osc::test;

TEST_CASE("the pointer is where the last command says") {
    CommandBench bench;
    const scs::Pointer& pointer = bench.engine().world().pointer();
    CHECK((pointer.x == 0.f && pointer.y == 0.f && !pointer.pressed));
    CHECK(bench("/pointer", 0.25f, 1.f, 1) == "");
    CHECK((pointer.x == 0.25f && pointer.y == 1.f && pointer.pressed));
    CHECK(bench("/pointer", 1, 0, 0) == "");
    CHECK((pointer.x == 1.f && pointer.y == 0.f && !pointer.pressed));
}

TEST_CASE("a pointer outside of the screen is a failure, and changes nothing") {
    CommandBench bench;
    REQUIRE(bench("/pointer", 0.5f, 0.25f, 1) == "");
    const std::string place = "[ \"/fail\", \"/pointer\", \"x and y are to be 0 to 1\" ]\n";
    for (const float bad : {-0.001f, 1.001f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
        CHECK(bench("/pointer", bad, 0.5f, 0) == place);
        CHECK(bench("/pointer", 0.5f, bad, 0) == place);
    }
    CHECK(bench("/pointer", "left", 0.5f, 0) == place);
    for (const int bad : {-1, 2, 2147483647})
        CHECK(bench("/pointer", 0.f, 0.f, bad) == "[ \"/fail\", \"/pointer\", \"the button is to be 0 or 1\" ]\n");
    CHECK(bench("/pointer", 0.f, 0.f, "down") == "[ \"/fail\", \"/pointer\", \"the button is to be 0 or 1\" ]\n");
    CHECK(bench("/pointer", 0.f, 0.f) == "[ \"/fail\", \"/pointer\", \"wrong argument type\" ]\n");
    const std::vector<std::byte> bytes(32, std::byte(0x40));
    const std::span<const std::byte> keys(bytes), few = keys.first(31);
    const std::string wrong = "[ \"/fail\", \"/pointer\", \"keys are to be a blob of 32 bytes\" ]\n";
    CHECK(bench("/pointer", 0.f, 0.f, 0, few) == wrong);
    CHECK(bench("/pointer", 0.f, 0.f, 0, "a") == wrong);
    CHECK(bench("/pointer", 0.f, 0.f, 0, 38) == wrong);
    const scs::Pointer& pointer = bench.engine().world().pointer();
    CHECK_FALSE(pointer.keys_told);
    CHECK(bench("/pointer", 0.5f, 0.25f, 1, keys) == "");
    CHECK(bench("/pointer", 0.5f, 0.25f, 1) == ""); // keys stay
    CHECK((pointer.is_down(38) && pointer.is_down(254.f) && !pointer.is_down(37) && !pointer.is_down(-1) &&
           !pointer.is_down(294) && !pointer.is_down(std::numeric_limits<float>::quiet_NaN())));
    CHECK((pointer.x == 0.5f && pointer.y == 0.25f && pointer.pressed));
}

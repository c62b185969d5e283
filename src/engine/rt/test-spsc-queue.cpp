// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/spsc-queue.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

using namespace scs;

TEST_CASE("capacity is rounded up to a power of two") {
    CHECK(SpscQueue<int>(0).capacity() == 1);
    CHECK(SpscQueue<int>(1).capacity() == 1);
    CHECK(SpscQueue<int>(5).capacity() == 8);
    CHECK(SpscQueue<int>(64).capacity() == 64);
}

TEST_CASE("values come out in order; full and empty are refused") {
    SpscQueue<int> queue(4);
    int value = -7;
    int in = 0;
    int out = 0;
    for (int lap = 0; lap < 10; ++lap) {
        CHECK_FALSE(queue.try_pop(value));
        CHECK(queue.size() == 0);
        for (std::size_t i = 1; i <= 4; ++i) {
            CHECK(queue.try_push(in++));
            CHECK(queue.size() == i);
        }
        CHECK_FALSE(queue.try_push(99));
        CHECK(queue.size() == 4);
        for (int i = 0; i < 4; ++i) {
            REQUIRE(queue.try_pop(value));
            CHECK(value == out++);
        }
        CHECK_FALSE(queue.try_pop(value));
        CHECK(value == out - 1);
    }
}

TEST_CASE("two threads") {
    struct Wide {
        std::uint64_t a, b, c;
    };
    constexpr std::uint64_t count = 200'000;
    SpscQueue<Wide> queue(16);
    std::thread producer([&] {
        for (std::uint64_t i = 0; i < count;) {
            if (queue.try_push({i, ~i, i * 3})) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
    });
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count;) {
        Wide value;
        wrong += queue.size() > queue.capacity();
        if (queue.try_pop(value)) {
            wrong += value.a != i || value.b != ~i || value.c != i * 3;
            ++i;
        } else {
            std::this_thread::yield();
        }
    }
    producer.join();
    CHECK(wrong == 0);
    CHECK(queue.size() == 0);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/record-ring.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <random>
#include <thread>

using namespace scs;

static bool push(RecordRing& ring, size_t bytes, int content) {
    void* record = ring.reserve(bytes);
    if (record == nullptr) {
        return false;
    }
    std::memset(record, content, bytes);
    ring.commit();
    return true;
}

static bool holds(std::span<std::byte> record, size_t bytes, int content) {
    return record.size() == bytes && std::all_of(record.begin(), record.end(), [&](std::byte b) {
               return b == static_cast<std::byte>(content & 0xff);
           });
}

TEST_CASE("capacity is rounded up to a power of two") {
    CHECK(RecordRing(0).capacity() == 64);
    CHECK(RecordRing(1000).capacity() == 1024);
    CHECK(RecordRing(1024).capacity() == 1024);
}

TEST_CASE("sizes out of range are refused") {
    RecordRing ring(1024);
    CHECK(ring.reserve(0) == nullptr);
    CHECK(ring.reserve(257) == nullptr);
    CHECK(ring.reserve(SIZE_MAX) == nullptr);
    CHECK(ring.reserve(256) != nullptr);
    CHECK(ring.peek().empty());
}

TEST_CASE("the largest record fits an empty ring wherever that stands") {
    for (const size_t capacity : {64, 1024}) {
        RecordRing ring(capacity);
        for (size_t i = 0; i < 4 * capacity; ++i) {
            CHECK(push(ring, capacity / 4, 1));
            ring.peek();
            ring.pop();
            CHECK(push(ring, 1, 1));
            ring.peek();
            ring.pop();
        }
    }
}

TEST_CASE("only committed records are seen, and until they are popped") {
    RecordRing ring(1024);
    ring.commit();
    ring.pop();
    CHECK(ring.peek().empty());
    CHECK(ring.reserve(100) != nullptr);
    CHECK(ring.peek().empty());
    CHECK(ring.free_bytes() == 1024);
    CHECK(push(ring, 3, 42)); // instead of the 100
    CHECK(ring.free_bytes() == 1024 - 16);
    ring.commit();
    CHECK(ring.free_bytes() == 1024 - 16);
    CHECK(holds(ring.peek(), 3, 42));
    CHECK(holds(ring.peek(), 3, 42));
    ring.pop();
    ring.pop();
    CHECK(ring.peek().empty());
    CHECK(ring.free_bytes() == 1024);
}

TEST_CASE("a refused reservation leaves nothing to commit") {
    RecordRing ring(1024);
    CHECK(ring.reserve(100) != nullptr);
    CHECK(ring.reserve(1000) == nullptr);
    ring.commit();
    CHECK(ring.peek().empty());
    while (push(ring, 200, 1)) {
    }
    const size_t free = ring.free_bytes();
    CHECK(ring.reserve(8) != nullptr);
    CHECK(ring.reserve(200) == nullptr);
    ring.commit();
    CHECK(ring.free_bytes() == free);
}

TEST_CASE("records of any size come out in order, contiguous and aligned") {
    RecordRing ring(1024);
    std::mt19937 random(3);
    std::deque<std::pair<size_t, int>> expected;
    size_t full = 0;
    for (int i = 0; i < 50'000; ++i) {
        const size_t bytes = 1 + random() % (random() % 4 == 0 ? 256 : 20);
        const size_t takes = 8 + (bytes + 7) / 8 * 8;
        if (random() % 2 == 0) {
            const size_t free = ring.free_bytes();
            const bool pushed = push(ring, bytes, i);
            if (pushed) {
                expected.emplace_back(bytes, i);
                CHECK(ring.free_bytes() <= free - takes);
            } else {
                ++full;
                CHECK(free < 2 * takes); // as promised
            }
        } else if (expected.empty()) {
            CHECK(ring.peek().empty());
        } else {
            const auto record = ring.peek();
            CHECK(reinterpret_cast<uintptr_t>(record.data()) % 8 == 0);
            CHECK(holds(record, expected.front().first, expected.front().second));
            ring.pop();
            expected.pop_front();
        }
    }
    CHECK(full > 100);
    while (!expected.empty()) {
        CHECK(holds(ring.peek(), expected.front().first, expected.front().second));
        ring.pop();
        expected.pop_front();
    }
    CHECK(ring.peek().empty());
    CHECK(ring.free_bytes() == ring.capacity());
}

TEST_CASE("two threads") {
    constexpr int count = 100'000;
    RecordRing ring(512);
    const auto size_of = [](int i) { return size_t(1 + i * 37 % 128); };
    std::thread producer([&] {
        for (int i = 0; i < count;) {
            if (push(ring, size_of(i), i)) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
    });
    int wrong = 0;
    for (int i = 0; i < count;) {
        const auto record = ring.peek();
        if (record.empty()) {
            std::this_thread::yield();
            continue;
        }
        wrong += !holds(record, size_of(i), i);
        ring.pop();
        ++i;
    }
    producer.join();
    CHECK(wrong == 0);
    CHECK(ring.peek().empty());
}

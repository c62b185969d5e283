// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/kept-pools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace scs;

namespace {

constexpr size_t mib = size_t{1} << 20;
constexpr std::string_view text = "what a plugin left";

KeptPools::Owner take(size_t bytes) {
    auto pool = KeptPools::take(bytes, Pool::Pages::ahead);
    REQUIRE(pool);
    return std::move(pool.value());
}

/// Memory of the pool with the text.
char* written(Pool& pool, size_t bytes = 100) {
    auto* const memory = static_cast<char*>(pool.allocate(bytes));
    REQUIRE(memory);
    std::memcpy(memory, text.data(), text.size());
    return memory;
}

std::string_view at(const char* memory) {
    return {memory, text.size()};
}

/// How many MiB of a region the system has given.
size_t resident(const void* memory, size_t bytes) {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages(bytes / page);
    const auto begin = reinterpret_cast<uintptr_t>(memory) / page * page;
    REQUIRE(mincore(reinterpret_cast<void*>(begin), bytes, pages.data()) == 0);
    return size_t(std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; })) * page / mib;
}

} // namespace

TEST_CASE("a pool goes if nothing is left in it") {
    auto pool = take(3 * mib);
    char* const memory = written(*pool);
    pool->free(memory);
    pool.reset();
    CHECK_FALSE(Pool::give_back(memory));
}

TEST_CASE("what is left in a pool stays, and the rest serves the next engine") {
    auto pool = take(200 * mib);
    char* const low = written(*pool);
    std::vector<void*> large;
    while (void* memory = pool->allocate(mib)) {
        std::memset(memory, 1, mib);
        large.push_back(memory);
    }
    CHECK(large.size() > 50);
    char* const high = written(*pool, 40'000);
    for (void* memory : large)
        pool->free(memory);
    CHECK(resident(low, 70 * mib) == 70);
    pool.reset();
    CHECK(at(low) == text);
    CHECK(at(high) == text);
    CHECK(resident(low, 70 * mib) < 3);
    {
        const auto of_another_size = take(100 * mib);
        CHECK_FALSE(of_another_size->owns(low));
    }
    auto next = take(200 * mib);
    CHECK(next->owns(low));
    CHECK(next->used_blocks() == 2);
    CHECK(resident(low, 70 * mib) == 70);
    for (int i = 0; i < 50; ++i)
        CHECK(next->allocate(mib));
    {
        const auto meanwhile = take(200 * mib); // the kept one is in use
        CHECK_FALSE(meanwhile->owns(low));
    }
    CHECK(at(low) == text);
    CHECK(at(high) == text);
}

TEST_CASE("what other threads give back is freed by the pool's") {
    auto pool = take(5 * mib);
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i)
        blocks.push_back(pool->allocate(100));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = t; i < 100; i += 4)
                CHECK(Pool::give_back(blocks[size_t(i)]));
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(pool->used_blocks() == 100);
    pool->take_back(30);
    CHECK(pool->used_blocks() == 70);
    char* const kept = written(*pool);
    pool.reset();                 // takes all others back
    CHECK(Pool::give_back(kept)); // of a pool that no engine uses
    auto next = take(5 * mib);
    CHECK(next->used_blocks() == 1);
    next->take_back();
    CHECK(next->used_blocks() == 0);
    CHECK_FALSE(Pool::give_back(&blocks));
}

TEST_CASE("of a pool with too much left the addresses stay") {
    auto pool = take(32 * mib);
    std::vector<char*> left;
    for (int i = 0; i < 5; ++i)
        left.push_back(written(*pool, mib));
    pool.reset();
    CHECK(left[4][0] == '\0');
    left[4][0] = 'x';
    CHECK(Pool::give_back(left[3]));
    CHECK_FALSE(take(32 * mib)->owns(left[0]));
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/pool.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

using namespace scs;

static std::unique_ptr<Pool> make_pool(size_t bytes) {
    auto pool = Pool::create(bytes);
    REQUIRE(pool);
    return std::move(pool.value());
}

namespace {

// A block with content that tells it from others.
struct Filled {
    unsigned char* memory = nullptr;
    size_t bytes = 0;
    unsigned seed = 0;

    unsigned char byte(size_t i) const { return static_cast<unsigned char>(seed + i * 31); }
    void fill(size_t from = 0) {
        for (size_t i = from; i < bytes; ++i) {
            memory[i] = byte(i);
        }
    }
    bool intact(size_t count) const {
        for (size_t i = 0; i < count; ++i) {
            if (memory[i] != byte(i)) {
                return false;
            }
        }
        return true;
    }
};

} // namespace

TEST_CASE("sizes out of range are errors") {
    CHECK_FALSE(Pool::create(0));
    CHECK_FALSE(Pool::create(Pool::max_bytes + 1));
    CHECK_FALSE(Pool::create(SIZE_MAX));
    CHECK(Pool::create(1));
}

/// Of the pages between the pool's bookkeeping at its ends, how many there are, and how many the system has given.
static std::pair<size_t, size_t> pages_of(Pool& pool) {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    const size_t bytes = pool.largest_free_block();
    const auto begin = reinterpret_cast<uintptr_t>(pool.allocate(bytes));
    REQUIRE(begin != 0);
    const uintptr_t first = (begin + page - 1) / page * page;
    std::vector<unsigned char> resident((begin + bytes - first) / page);
    REQUIRE(mincore(reinterpret_cast<void*>(first), resident.size() * page, resident.data()) == 0);
    return {resident.size(), size_t(std::count_if(resident.begin(), resident.end(), [](auto r) { return r & 1; }))};
}

TEST_CASE("all pages are touched at creation") {
    auto pool = make_pool(1 << 20);
    const auto [all, resident] = pages_of(*pool);
    CHECK(all > 200);
    CHECK(resident == all);
}

TEST_CASE("pages are left until they are used, if that is asked for") {
    auto pool = Pool::create(64 << 20, Pool::Pages::when_used);
    REQUIRE(pool);
    const auto [all, resident] = pages_of(*pool.value());
    CHECK(all > 16000);
    CHECK(resident < all / 4); // a large page at either end
}

namespace {

constexpr size_t mib = size_t(1) << 20;

/// A pool of 256 MiB, and how much of it the system has given, in MiB. A large page counts where it begins.
struct LargePool {
    static constexpr size_t bytes = 256 * mib;
    std::unique_ptr<Pool> pool = make_pool(bytes);
    uintptr_t begin = begin_of(*pool);

    static uintptr_t begin_of(Pool& pool) {
        void* first = pool.allocate(1);
        pool.free(first);
        return reinterpret_cast<uintptr_t>(first) - Pool::alignment;
    }
    size_t resident() const {
        const auto page = size_t(sysconf(_SC_PAGESIZE));
        std::vector<unsigned char> pages(bytes / page);
        REQUIRE(mincore(reinterpret_cast<void*>(begin), bytes, pages.data()) == 0);
        return size_t(std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; })) * page / mib;
    }
};

} // namespace

TEST_CASE("the system gives a large pool only as far as it is used, but ahead of that") {
    LargePool large;
    Pool& pool = *large.pool;
    const size_t first = (Pool::first_bytes + Pool::ahead) / mib;
    CHECK(large.resident() >= first);
    CHECK(large.resident() <= first + 2);
    CHECK(pool.grows());

    SUBCASE("what is ahead is used without another page, and is kept ahead") {
        const size_t before = large.resident();
        for (int i = 0; i < 60; ++i)
            CHECK(pool.allocate(mib) != nullptr);
        CHECK(large.resident() == before);
        pool.keep_ahead(INT64_MAX);
        CHECK(large.resident() >= before + 50);
        CHECK(large.resident() <= before + 64);
        const size_t kept = large.resident();
        pool.keep_ahead(INT64_MAX); // there is nothing to do
        CHECK(large.resident() == kept);
    }
    SUBCASE("a request that is refused, or granted and not yet written, doesn't end that") {
        const auto fills = [&](int blocks) {
            for (int i = 0; i < blocks; ++i) {
                void* const memory = pool.allocate(mib);
                REQUIRE(memory != nullptr);
                std::memset(memory, 1, mib);
            }
        };
        SUBCASE("refused") {
            pool.keep_ahead(int64_t(100 * mib));
            CHECK(pool.allocate(200 * mib) == nullptr);
            pool.keep_ahead(INT64_MAX);
        }
        SUBCASE("granted") {
            pool.keep_ahead(INT64_MAX);
            void* const block = pool.allocate(150 * mib);
            REQUIRE(block != nullptr);
            pool.keep_ahead(INT64_MAX);
            pool.free(block);
        }
        for (int round = 0; round < 3; ++round) {
            const size_t before = large.resident();
            fills(50);
            CHECK(large.resident() == before);
            pool.keep_ahead(INT64_MAX);
        }
    }
    SUBCASE("blocks are aligned, whatever number of bytes the system has") {
        pool.keep_ahead(int64_t(100 * mib + 20));
        CHECK(pool.allocate(pool.largest_free_block()) != nullptr);
        while (pool.allocate(mib / 8 - 16)) {
        }
        while (pool.allocate(Pool::alignment - 16)) {
        }
        pool.keep_ahead(INT64_MAX);
        for (int i = 0; i < 3; ++i) {
            void* const block = pool.allocate(mib);
            CHECK(block != nullptr);
            CHECK(reinterpret_cast<uintptr_t>(block) % Pool::alignment == 0);
        }
    }
    SUBCASE("in the end all of it is in use, as one block") {
        std::vector<void*> blocks;
        for (void* block; (block = pool.allocate(3 * mib)); blocks.push_back(block))
            pool.keep_ahead(INT64_MAX);
        CHECK(blocks.size() >= 84);
        CHECK_FALSE(pool.grows());
        for (void* block : blocks)
            pool.free(block);
        CHECK(pool.used_blocks() == 0);
        CHECK(pool.free_bytes() == LargePool::bytes - 64 - 16);
        CHECK(pool.allocate(250 * mib) != nullptr);
    }
    SUBCASE("a request beyond what is ahead takes what the system has, and no more") {
        CHECK(pool.allocate(80 * mib) == nullptr);
        pool.keep_ahead(int64_t(100 * mib));
        CHECK(pool.free_bytes() / mib == 171);
        CHECK(pool.largest_free_block() >= 164 * mib);
        CHECK(pool.allocate(180 * mib) == nullptr);
        CHECK(pool.allocate(pool.largest_free_block()) != nullptr);
        pool.keep_ahead(-1);
        CHECK(pool.allocate(20 * mib) == nullptr);
        pool.keep_ahead(INT64_MAX);
        CHECK(pool.allocate(20 * mib) != nullptr);
    }
    SUBCASE("its content stays while pages are added") {
        std::vector<Filled> blocks;
        for (unsigned i = 0; i < 200; ++i) {
            blocks.push_back({static_cast<unsigned char*>(pool.allocate(mib)), mib, i});
            REQUIRE(blocks.back().memory != nullptr);
            blocks.back().fill();
            if (i % 7 == 0)
                pool.keep_ahead(INT64_MAX);
        }
        for (const Filled& block : blocks)
            CHECK(block.intact(mib));
    }
}

TEST_CASE("blocks are aligned, apart and writable to the end") {
    auto pool = make_pool(1 << 20);
    std::vector<Filled> blocks;
    for (size_t bytes = 0; bytes < 1000; ++bytes) {
        Filled block{static_cast<unsigned char*>(pool->allocate(bytes)), bytes, unsigned(bytes)};
        REQUIRE(block.memory != nullptr);
        CHECK(reinterpret_cast<uintptr_t>(block.memory) % Pool::alignment == 0);
        block.fill();
        blocks.push_back(block);
    }
    CHECK(pool->used_blocks() == 1000);
    for (const Filled& block : blocks) {
        CHECK(block.intact(block.bytes));
        pool->free(block.memory);
    }
    CHECK(pool->used_blocks() == 0);
}

TEST_CASE("requests beyond reason are refused") {
    auto pool = make_pool(1 << 20);
    const size_t free = pool->free_bytes();
    void* memory = pool->allocate(100);
    for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX - 79, SIZE_MAX / 2 + 1, Pool::max_bytes,
                               Pool::max_bytes + 1}) {
        CHECK(pool->allocate(bytes) == nullptr);
        CHECK(pool->reallocate(nullptr, bytes) == nullptr);
        CHECK(pool->reallocate(memory, bytes) == nullptr);
    }
    CHECK(pool->used_blocks() == 1);
    pool->free(memory);
    pool->free(nullptr);
    CHECK(pool->free_bytes() == free);
}

TEST_CASE("the largest free block is what can be had") {
    std::mt19937 random(5);
    for (const size_t bytes : {4096, 12'288, 100'000, 8'192 * 1024}) {
        auto pool = make_pool(bytes);
        while (pool->largest_free_block() != 0) {
            const size_t largest = pool->largest_free_block();
            CHECK(pool->allocate(largest + 1) == nullptr);
            void* memory = pool->allocate(largest);
            REQUIRE(memory != nullptr);
            pool->free(memory);
            CHECK(pool->largest_free_block() == largest);
            pool->allocate(random() % (largest + 1));
        }
        CHECK(pool->allocate(0) == nullptr);
    }
}

TEST_CASE("freed neighbours merge: all freed is as new") {
    auto pool = make_pool(4 << 20);
    const size_t free = pool->free_bytes();
    const size_t largest = pool->largest_free_block();
    CHECK(free > (4 << 20) - 4096);
    CHECK(largest > free / 33 * 32);
    std::mt19937 random(7);
    for (int round = 0; round < 4; ++round) {
        std::vector<void*> blocks;
        while (void* memory = pool->allocate(random() % 5000)) {
            blocks.push_back(memory);
        }
        CHECK(pool->largest_free_block() < 5000);
        if (round == 1) {
            std::reverse(blocks.begin(), blocks.end());
        } else if (round > 1) {
            std::shuffle(blocks.begin(), blocks.end(), random);
        }
        for (void* memory : blocks) {
            pool->free(memory);
        }
        CHECK(pool->free_bytes() == free);
        CHECK(pool->largest_free_block() == largest);
        CHECK(pool->used_blocks() == 0);
    }
}

TEST_CASE("an exhausted pool refuses, and grants again what is freed") {
    auto pool = make_pool(64 * 1024);
    std::vector<void*> blocks;
    while (void* memory = pool->allocate(48)) {
        blocks.push_back(memory);
    }
    CHECK(blocks.size() == 1023);
    CHECK(pool->free_bytes() == 0);
    CHECK(pool->largest_free_block() == 0);
    CHECK(pool->allocate(0) == nullptr);
    pool->free(blocks[500]);
    CHECK(pool->free_bytes() == 48);
    CHECK(pool->largest_free_block() == 48);
    CHECK(pool->allocate(49) == nullptr);
    CHECK(pool->allocate(48) == blocks[500]);
    pool->free(blocks[500]);
    pool->free(blocks[501]);
    CHECK(pool->allocate(48 + 64) == blocks[500]);
}

TEST_CASE("reallocation keeps the contents") {
    auto pool = make_pool(1 << 20);
    const size_t free = pool->free_bytes();
    Filled block{static_cast<unsigned char*>(pool->reallocate(nullptr, 1000)), 1000, 9};
    REQUIRE(block.memory != nullptr);
    block.fill();

    SUBCASE("grows in place when the next block is free") {
        CHECK(pool->reallocate(block.memory, 100'000) == block.memory);
        CHECK(block.intact(1000));
        CHECK(pool->free_bytes() < free - 100'000);
    }
    SUBCASE("moves when it isn't") {
        void* next = pool->allocate(1);
        Filled moved = block;
        moved.memory = static_cast<unsigned char*>(pool->reallocate(block.memory, 100'000));
        REQUIRE(moved.memory != nullptr);
        CHECK(moved.memory != block.memory);
        CHECK(moved.intact(1000));
        CHECK(pool->used_blocks() == 2);
        pool->free(next);
        block = moved;
    }
    SUBCASE("shrinks in place and gives back the rest") {
        void* next = pool->allocate(1);
        const size_t before = pool->free_bytes();
        CHECK(pool->reallocate(block.memory, 100) == block.memory);
        CHECK(block.intact(100));
        CHECK(pool->free_bytes() > before + 800);
        pool->free(next);
    }
    SUBCASE("the given back rest merges with what follows") {
        CHECK(pool->reallocate(block.memory, 100) == block.memory);
        CHECK(pool->largest_free_block() > free / 33 * 32);
    }
    SUBCASE("a failure changes nothing") {
        void* next = pool->allocate(1);
        const size_t before = pool->free_bytes();
        CHECK(pool->reallocate(block.memory, 1 << 20) == nullptr);
        CHECK(block.intact(1000));
        CHECK(pool->free_bytes() == before);
        CHECK(pool->used_blocks() == 2);
        pool->free(next);
    }
    pool->free(block.memory);
    CHECK(pool->free_bytes() == free);
    CHECK(pool->used_blocks() == 0);
}

TEST_CASE("random use") {
    auto pool = make_pool(2 << 20);
    const size_t free = pool->free_bytes();
    const size_t largest = pool->largest_free_block();
    std::mt19937 random(11);
    std::vector<Filled> blocks(600);
    const auto random_size = [&] { return random() % (size_t{1} << random() % 18); };
    size_t refused = 0;
    size_t wrong = 0;
    size_t used = 0;
    for (unsigned i = 0; i < 100'000; ++i) {
        Filled& block = blocks[random() % blocks.size()];
        if (block.memory == nullptr) {
            block.bytes = random_size();
            block.seed = i;
            block.memory = static_cast<unsigned char*>(pool->allocate(block.bytes));
            if (block.memory == nullptr) {
                ++refused;
                wrong += block.bytes <= pool->largest_free_block();
            } else {
                ++used;
                block.fill();
            }
        } else if (random() % 3 == 0) {
            const size_t bytes = random_size();
            void* memory = pool->reallocate(block.memory, bytes);
            if (memory == nullptr) {
                ++refused;
                wrong += bytes <= pool->largest_free_block() || !block.intact(block.bytes);
            } else {
                block.memory = static_cast<unsigned char*>(memory);
                const size_t kept = std::min(bytes, block.bytes);
                wrong += !block.intact(kept);
                block.bytes = bytes;
                block.fill(kept);
            }
        } else {
            wrong += !block.intact(block.bytes);
            pool->free(block.memory);
            block.memory = nullptr;
            --used;
        }
        wrong += pool->used_blocks() != used;
    }
    CHECK(wrong == 0);
    CHECK(refused > 100);
    for (const Filled& block : blocks) {
        if (block.memory != nullptr) {
            CHECK(block.intact(block.bytes));
            pool->free(block.memory);
        }
    }
    CHECK(pool->used_blocks() == 0);
    CHECK(pool->free_bytes() == free);
    CHECK(pool->largest_free_block() == largest);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/ring-buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

using namespace scs;

namespace {

std::atomic<int> allocations{0};

using Values = std::vector<int>;

/// The next `count` numbers.
Values numbers(int& next, size_t count) {
    Values values(count);
    std::iota(values.begin(), values.end(), next);
    next += int(count);
    return values;
}

Values in_place(RingBuffer<int>& ring, size_t most) {
    Values values;
    for (const auto part : ring.view(most))
        values.insert(values.end(), part.begin(), part.end());
    return values;
}

/// A ring, and a model of what it should contain.
struct Rig {
    Rig(size_t capacity, WhenFull when_full, WhenEmpty when_empty)
        : ring(capacity, {.when_full = when_full, .when_empty = when_empty}),
          when_full(when_full),
          when_empty(when_empty) {}

    bool write(size_t count) {
        const Values values = numbers(next, count);
        const size_t room = ring.capacity() - model.size();
        const size_t fits = count <= room ? count : when_full == WhenFull::refuse ? 0 : room;
        model.insert(model.end(), values.begin(), values.begin() + ptrdiff_t(fits));
        if (when_full == WhenFull::drop_newest)
            dropped += count - fits;
        return ring.write(values) == fits;
    }

    bool read(size_t count) {
        Values values(count, -1);
        const Values expected = front(count);
        const size_t there = std::min(count, model.size());
        const bool right = ring.read(values) == there && values == expected;
        return remove(there) && right;
    }

    bool consume(size_t count) {
        const size_t there = std::min(count, model.size());
        return ring.consume(count) == there && remove(there);
    }

    bool remove(size_t count) {
        model.erase(model.begin(), model.begin() + ptrdiff_t(count));
        return true;
    }

    /// What a read of `count` values gives, with -1 where it leaves the memory untouched.
    Values front(size_t count) const {
        Values values(count, when_empty == WhenEmpty::pad ? 0 : -1);
        std::copy_n(model.begin(), std::min(count, model.size()), values.begin());
        return values;
    }

    /// Checks everything that can be read without changing anything.
    bool looks_right() {
        bool right = ring.fill() == model.size() && ring.dropped() == dropped;
        for (size_t count = 0; count <= ring.capacity() + 1; ++count) {
            const size_t there = std::min(count, model.size());
            Values copied(count, -1);
            right = right && ring.peek(copied) == there && copied == front(count) &&
                    in_place(ring, count) == Values(model.begin(), model.begin() + ptrdiff_t(there));
        }
        return right && ring.fill() == model.size();
    }

    /// Does a write, a read or a removal of 0 to capacity + 1 values; `action` is its number.
    bool act(size_t action) {
        const size_t sizes = ring.capacity() + 2, count = action % sizes;
        return action < sizes ? write(count) : action < 2 * sizes ? read(count) : consume(count);
    }

    RingBuffer<int> ring;
    WhenFull when_full;
    WhenEmpty when_empty;
    std::deque<int> model;
    uint64_t dropped = 0;
    int next = 1;
};

} // namespace

void* operator new(size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}

void* operator new[](size_t size) {
    return operator new(size);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

void operator delete[](void* memory) noexcept {
    std::free(memory);
}

void operator delete[](void* memory, size_t) noexcept {
    std::free(memory);
}

TEST_CASE("capacity is rounded up to a power of two") {
    CHECK(RingBuffer<int>(0).capacity() == 1);
    CHECK(RingBuffer<int>(1).capacity() == 1);
    CHECK(RingBuffer<int>(5).capacity() == 8);
    CHECK(RingBuffer<int>(64).capacity() == 64);
}

TEST_CASE("small rings: from each position and fill, each two actions do what they should") {
    int tried = 0, wrong = 0;
    const auto try_all = [&](size_t capacity, WhenFull when_full, WhenEmpty when_empty) {
        const size_t actions = 3 * (capacity + 2);
        for (size_t state = 0; state < capacity * (capacity + 1); ++state)
            for (size_t pair = 0; pair < actions * actions; ++pair) {
                Rig rig(capacity, when_full, when_empty);
                const size_t start = state % capacity, fill = state / capacity;
                const bool right = rig.write(start) && rig.read(start) && rig.write(fill) && rig.looks_right() &&
                                   rig.act(pair % actions) && rig.looks_right() && rig.act(pair / actions) &&
                                   rig.looks_right();
                wrong += !right;
                ++tried;
            }
    };
    for (const size_t capacity : {1, 2, 4})
        for (const WhenFull when_full : {WhenFull::refuse, WhenFull::drop_newest})
            for (const WhenEmpty when_empty : {WhenEmpty::read_short, WhenEmpty::pad})
                try_all(capacity, when_full, when_empty);
    CHECK(tried == 4 * (2 * 9 * 9 + 6 * 12 * 12 + 20 * 18 * 18));
    CHECK(wrong == 0);
}

TEST_CASE("a refused write leaves no trace, a dropping one takes what fits and counts the rest") {
    const std::array more{4, 5, 6};
    std::array<int, 4> out{};
    RingBuffer<int> refusing(4);
    CHECK(refusing.write(std::array{1, 2, 3}) == 3);
    CHECK(refusing.write(more) == 0);
    CHECK(refusing.fill() == 3);
    CHECK(refusing.dropped() == 0);
    CHECK(refusing.push(7));
    CHECK_FALSE(refusing.push(8));
    CHECK(refusing.read(out) == 4);
    CHECK(out == std::array{1, 2, 3, 7});

    RingBuffer<int> dropping(4, {.when_full = WhenFull::drop_newest});
    CHECK(dropping.write(std::array{1, 2, 3}) == 3);
    CHECK(dropping.write(more) == 1);
    CHECK_FALSE(dropping.push(7));
    CHECK(dropping.fill() == 4);
    CHECK(dropping.dropped() == 3);
    CHECK(dropping.read(out) == 4);
    CHECK(out == std::array{1, 2, 3, 4});
    CHECK(dropping.write(std::array{1, 2, 3, 4, 5, 6}) == 4); // more than there is ever room for
    CHECK(dropping.dropped() == 5);
}

TEST_CASE("an empty stream reads short, or as silence") {
    std::array<float, 4> out{9, 9, 9, 9};
    RingBuffer<float> shortening(4);
    CHECK(shortening.write(std::array{1.f, 2.f}) == 2);
    CHECK(shortening.read(out) == 2);
    CHECK(out == std::array{1.f, 2.f, 9.f, 9.f});
    CHECK(shortening.read(out) == 0);
    CHECK(out == std::array{1.f, 2.f, 9.f, 9.f});

    RingBuffer<float> padding(4, {.when_empty = WhenEmpty::pad});
    CHECK(padding.write(std::array{3.f, 4.f, 5.f}) == 3);
    CHECK(padding.peek(out) == 3);
    CHECK(out == std::array{3.f, 4.f, 5.f, 0.f});
    CHECK(padding.consume(1) == 1);
    CHECK(padding.read(out) == 2);
    CHECK(out == std::array{4.f, 5.f, 0.f, 0.f});
    CHECK(padding.fill() == 0);
    CHECK(padding.read(out) == 0);
    CHECK(out == std::array<float, 4>{});
}

TEST_CASE("a reader looks at more than it consumes, in place across the ring's end") {
    RingBuffer<int> ring(8);
    CHECK(ring.write(std::array{0, 0, 0, 0, 0, 0}) == 6);
    CHECK(ring.consume(6) == 6);
    CHECK(ring.write(std::array{1, 2, 3, 4, 5}) == 5);
    for (int oldest = 1; oldest <= 5; ++oldest) {
        std::array<int, 3> window{};
        const size_t there = ring.peek(window);
        CHECK(there == size_t(std::min(3, 6 - oldest)));
        CHECK(window[0] == oldest);
        const auto [first, second] = ring.view(100);
        CHECK(first.size() + second.size() == ring.fill());
        CHECK(first.size() == size_t(oldest <= 2 ? 3 - oldest : 6 - oldest));
        CHECK(first[0] == oldest);
        CHECK(ring.consume(1) == 1);
    }
    CHECK(ring.consume(1) == 0);
}

TEST_CASE("single values") {
    RingBuffer<int> ring(4);
    int value = -7, in = 0, out = 0;
    for (int lap = 0; lap < 10; ++lap) {
        CHECK_FALSE(ring.pop(value));
        for (size_t i = 1; i <= 4; ++i) {
            CHECK(ring.push(in++));
            CHECK(ring.fill() == i);
        }
        CHECK_FALSE(ring.push(99));
        for (int i = 0; i < 4; ++i) {
            REQUIRE(ring.pop(value));
            CHECK(value == out++);
        }
        CHECK_FALSE(ring.pop(value));
        CHECK(value == out - 1);
    }
}

TEST_CASE("a writer is paused at one level and resumed below another") {
    RingBuffer<int> ring(16, {.pause_at = 12, .resume_below = 5});
    std::array<int, 16> values{};
    const auto add = [&](size_t count) { return ring.write(std::span(values).first(count)) == count; };
    for (int lap = 0; lap < 20; ++lap) {
        CHECK_FALSE(ring.paused());
        CHECK(add(11));
        CHECK_FALSE(ring.paused());
        CHECK(add(1));
        CHECK(ring.paused());
        CHECK(ring.paused());
        CHECK(add(4)); // it may go on
        CHECK(ring.paused());
        CHECK(ring.consume(11) == 11);
        CHECK(ring.paused());
        CHECK(ring.consume(1) == 1);
        CHECK_FALSE(ring.paused());
        CHECK(add(7));
        CHECK_FALSE(ring.paused());
        CHECK(ring.consume(11) == 11);
    }
}

TEST_CASE("levels out of range are the nearest ones in it") {
    std::array<int, 8> values{};
    RingBuffer<int> usual(8), low(8, {.pause_at = 0, .resume_below = 0}),
        crossed(8, {.pause_at = 4, .resume_below = 6});
    CHECK(usual.write(std::span(values).first(7)) == 7);
    CHECK_FALSE(usual.paused());
    CHECK(usual.push(1));
    CHECK(usual.paused());
    CHECK(usual.consume(1) == 1);
    CHECK_FALSE(usual.paused());

    CHECK_FALSE(low.paused());
    CHECK(low.push(1));
    CHECK(low.paused());
    CHECK(low.consume(1) == 1);
    CHECK_FALSE(low.paused());

    CHECK(crossed.write(std::span(values).first(4)) == 4);
    CHECK(crossed.paused());
    CHECK(crossed.paused());
    CHECK(crossed.consume(1) == 1);
    CHECK_FALSE(crossed.paused());
}

TEST_CASE("nothing is allocated but by the constructor") {
    const int at_first = allocations;
    RingBuffer<float> ring(256, {.when_full = WhenFull::drop_newest, .when_empty = WhenEmpty::pad, .pause_at = 200});
    const int before = allocations;
    std::array<float, 100> chunk{};
    size_t seen = 0;
    for (int i = 0; i < 100; ++i) {
        seen += ring.write(chunk) + ring.push(1) + ring.paused() + ring.fill() + ring.dropped();
        seen += ring.peek(chunk) + ring.view(80)[0].size() + ring.consume(30) + ring.read(std::span(chunk).first(60));
        seen += ring.pop(chunk[0]);
    }
    const int after = allocations;
    CHECK(before - at_first == 1);
    CHECK(after == before);
    CHECK(seen > 0);
}

TEST_CASE("two threads: everything arrives in order, whatever the sizes") {
    constexpr uint32_t count = 8 << 20; // 32 MiB
    RingBuffer<uint32_t> ring(4096, {.pause_at = 3000, .resume_below = 1000});
    uint64_t too_full = 0, pauses = 0;
    std::thread writer([&] {
        std::mt19937 random(1);
        std::array<uint32_t, 1000> chunk;
        bool was_paused = false;
        for (uint32_t next = 0; next < count;) {
            const bool paused = ring.paused();
            pauses += paused && !was_paused;
            was_paused = paused;
            const size_t size = std::min<size_t>(1 + random() % chunk.size(), count - next);
            std::iota(chunk.begin(), chunk.begin() + ptrdiff_t(size), next);
            if (!paused && ring.write(std::span(chunk).first(size)) == size)
                next += uint32_t(size);
            else
                std::this_thread::yield();
            too_full += ring.fill() > 3000 + chunk.size();
        }
    });
    std::mt19937 random(2);
    std::array<uint32_t, 1500> chunk;
    uint64_t wrong = 0;
    for (uint32_t next = 0; next < count;) {
        const size_t size = 1 + random() % chunk.size(), filled = ring.fill();
        size_t got;
        if (random() % 2 == 0) {
            const size_t there = ring.peek(std::span(chunk).first(size));
            got = ring.consume(there - there / 3);
        } else {
            got = ring.read(std::span(chunk).first(size));
            wrong += got < std::min(size, filled);
        }
        for (size_t i = 0; i < got; ++i)
            wrong += chunk[i] != next++;
        if (got == 0)
            std::this_thread::yield();
    }
    writer.join();
    CHECK(wrong == 0);
    CHECK(too_full == 0);
    CHECK(pauses > 0);
    CHECK(ring.fill() == 0);
}

TEST_CASE("two threads: what is missing is what was dropped") {
    constexpr uint32_t count = 4 << 20;
    RingBuffer<uint32_t> ring(1024, {.when_full = WhenFull::drop_newest});
    std::atomic<bool> done = false;
    std::thread writer([&] {
        std::mt19937 random(3);
        std::array<uint32_t, 700> chunk;
        for (uint32_t next = 0; next < count;) {
            const size_t size = std::min<size_t>(1 + random() % chunk.size(), count - next);
            std::iota(chunk.begin(), chunk.begin() + ptrdiff_t(size), next);
            ring.write(std::span(chunk).first(size));
            next += uint32_t(size);
            if (random() % 4 == 0)
                std::this_thread::yield();
        }
        done = true;
    });
    std::array<uint32_t, 900> chunk;
    uint64_t wrong = 0, arrived = 0;
    int64_t last = -1;
    for (bool end = false; !end;) {
        end = done; // read before the ring is found empty
        while (const size_t got = ring.read(chunk)) {
            end = false;
            arrived += got;
            for (size_t i = 0; i < got; ++i) {
                wrong += chunk[i] <= last;
                last = chunk[i];
            }
        }
        std::this_thread::yield();
    }
    writer.join();
    CHECK(wrong == 0);
    CHECK(arrived + ring.dropped() == count);
    CHECK(ring.dropped() > 0);
    CHECK(arrived > 0);
}

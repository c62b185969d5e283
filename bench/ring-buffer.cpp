// SPDX-License-Identifier: GPL-3.0-or-later
// What a stream costs beyond the copying: the cases of a published comparison of NAudio's BufferedWaveProvider and
// System.IO.Pipelines (https://markheath.net/post/system-io-pipelines-high-perf-audio) with our RingBuffer and others.
#include "engine/rt/ring-buffer.hpp"

#include <spa/utils/ringbuffer.h>

#include <boost/lockfree/spsc_queue.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <time.h>
#include <vector>

namespace {

using Bytes = std::span<uint8_t>;
using ConstBytes = std::span<const uint8_t>;

constexpr size_t total = 600'000'000, capacity = 16384, longest_chunk = 6000, runs = 11;

// The same for all: how fast memory is copied depends on its alignment.
alignas(64) std::array<uint8_t, longest_chunk> source, sink;

size_t allocations = 0;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

/// Only the copying, to and from where a ring would have its values; in one piece at the ring's end.
class Memcpy {
public:
    void write(ConstBytes from) { std::memcpy(place(written_, from.size()), from.data(), from.size()); }
    void read(Bytes to) { std::memcpy(to.data(), place(read_, to.size()), to.size()); }

private:
    uint8_t* place(size_t& position, size_t size) {
        uint8_t* const here = memory_.data() + position;
        position = (position + size) % capacity;
        return here;
    }
    std::vector<uint8_t> memory_ = std::vector<uint8_t>(capacity + longest_chunk);
    size_t written_ = 0, read_ = 0;
};

class RingBuffer {
public:
    void write(ConstBytes from) { ring_.write(from); }
    void read(Bytes to) { ring_.read(to); }

private:
    scs::RingBuffer<uint8_t> ring_{capacity};
};

class Boost {
public:
    void write(ConstBytes from) { queue_.push(from.data(), from.size()); }
    void read(Bytes to) { queue_.pop(to.data(), to.size()); }

private:
    boost::lockfree::spsc_queue<uint8_t> queue_{capacity};
};

class Spa {
public:
    void write(ConstBytes from) {
        const auto size = uint32_t(from.size());
        uint32_t index;
        if (capacity - size_t(spa_ringbuffer_get_write_index(&ring_, &index)) < size)
            return;
        spa_ringbuffer_write_data(&ring_, memory_.data(), capacity, index % capacity, from.data(), size);
        spa_ringbuffer_write_update(&ring_, int32_t(index + size));
    }
    void read(Bytes to) {
        const auto size = uint32_t(to.size());
        uint32_t index;
        if (size_t(spa_ringbuffer_get_read_index(&ring_, &index)) < size)
            return;
        spa_ringbuffer_read_data(&ring_, memory_.data(), capacity, index % capacity, to.data(), size);
        spa_ringbuffer_read_update(&ring_, int32_t(index + size));
    }

private:
    spa_ringbuffer ring_ = SPA_RINGBUFFER_INIT();
    std::vector<uint8_t> memory_ = std::vector<uint8_t>(capacity);
};

struct Case {
    size_t write, read; ///< bytes at once
};

/// Writes a chunk and then reads as many as there are, again and again. `before_write` and `after_read` get each chunk.
template <class Stream, class Before, class After>
void transfer(Stream& stream, Case sizes, size_t bytes, Before before_write, After after_read) {
    size_t filled = 0;
    for (size_t written = 0; written < bytes; written += sizes.write) {
        before_write(Bytes(source).first(sizes.write));
        stream.write(Bytes(source).first(sizes.write));
        for (filled += sizes.write; filled >= sizes.read; filled -= sizes.read) {
            stream.read(Bytes(sink).first(sizes.read));
            after_read(ConstBytes(sink).first(sizes.read));
        }
    }
}

/// Whether what comes out is what went in.
template <class Stream>
bool right(Case sizes) {
    Stream stream;
    uint32_t in = 0, out = 0, wrong = 0;
    const auto next = [](uint32_t& state) { return uint8_t((state = state * 1664525 + 1013904223) >> 24); };
    transfer(
        stream, sizes, 3'000'000,
        [&](Bytes chunk) {
            for (uint8_t& byte : chunk)
                byte = next(in);
        },
        [&](ConstBytes chunk) {
            for (const uint8_t byte : chunk)
                wrong += byte != next(out);
        });
    return wrong == 0;
}

/// Of this thread's processor time: what others do meanwhile doesn't count.
double thread_seconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Seconds for the whole transfer.
template <class Stream>
double time_of(Case sizes) {
    Stream stream;
    const size_t allocations_before = allocations;
    const double start = thread_seconds();
    transfer(
        stream, sizes, total,
        [](Bytes chunk) {
            asm volatile("" : : "r"(chunk.data()) : "memory");
        },
        [](ConstBytes chunk) {
            asm volatile("" : : "r"(chunk.data()) : "memory");
        });
    const double seconds = thread_seconds() - start;
    if (allocations != allocations_before)
        fail("a stream allocates");
    return seconds;
}

using Runs = std::array<double, runs>;

double median(Runs values) {
    std::nth_element(values.begin(), values.begin() + runs / 2, values.end());
    return values[runs / 2];
}

} // namespace

// Inlined, gcc would take new and free for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

int main() {
    constexpr std::array cases{Case{1500, 1000}, Case{1500, 5000}, Case{6000, 1000}, Case{6000, 5000}};
    constexpr std::array timers{time_of<Memcpy>, time_of<RingBuffer>, time_of<Boost>, time_of<Spa>};
    for (const Case sizes : cases)
        if (!right<RingBuffer>(sizes) || !right<Boost>(sizes) || !right<Spa>(sizes))
            fail("what comes out is not what went in");

    std::array<std::array<Runs, timers.size()>, cases.size()> seconds;
    for (size_t run = 0; run < runs; ++run)
        for (size_t i = 0; i < cases.size(); ++i)
            for (size_t j = 0; j < timers.size(); ++j) {
                const size_t which = (run + j) % timers.size(); // so that none always follows the same one
                seconds[i][which][run] = timers[which](cases[i]);
            }

    std::printf("One thread writes a chunk, then reads as many as there are, until %zu bytes are through.\n"
                "The streams hold %zu; memcpy: the same chunks to and from the same places, nothing else.\n"
                "GB/s of that thread's processor time, medians of %zu runs that alternate; then RingBuffer's\n"
                "time beside memcpy's and spsc_queue's. None of them allocates.\n\n"
                "| write, read | memcpy | RingBuffer | boost spsc_queue | spa_ringbuffer | / memcpy | / boost |\n"
                "|---|---|---|---|---|---|---|\n",
                total, capacity, runs);
    for (size_t i = 0; i < cases.size(); ++i) {
        std::printf("| %zu, %zu |", cases[i].write, cases[i].read);
        for (const Runs& each : seconds[i])
            std::printf(" %.1f |", double(total) / median(each) * 1e-9);
        std::printf(" %.2f | %.2f |\n", median(seconds[i][1]) / median(seconds[i][0]),
                    median(seconds[i][1]) / median(seconds[i][2]));
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/cache-line.hpp"
#include "engine/rt/ring-end.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace scs {

/// What a write does if there is too little room: write nothing, or drop what doesn't fit.
enum class WhenFull { refuse, drop_newest };
/// What a read does if there is too little: read what is there, or also fill the rest with zeros.
enum class WhenEmpty { read_short, pad };

struct RingOptions {
    WhenFull when_full = WhenFull::refuse;
    WhenEmpty when_empty = WhenEmpty::read_short;
    /// The writer should pause when the fill reaches `pause_at` (1 … capacity), until it is below `resume_below` (1 …
    /// pause_at). Values out of range are clamped.
    size_t pause_at = SIZE_MAX;
    size_t resume_below = SIZE_MAX;
};

/// A bounded wait-free stream from one writer thread to one reader thread. T is the unit of transfer: a sample, a byte,
/// a pointer, a std::array with a frame's channels.
template <class T>
class RingBuffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);

public:
    /// Room for `capacity` values, rounded up to a power of two (at least 1). Allocates. [main]
    explicit RingBuffer(size_t capacity, RingOptions options = {})
        : capacity_(std::bit_ceil(std::max<size_t>(capacity, 1))),
          values_(std::make_unique<T[]>(capacity_)),
          when_full_(options.when_full),
          when_empty_(options.when_empty),
          pause_at_(std::clamp<size_t>(options.pause_at, 1, capacity_)),
          resume_below_(std::clamp<size_t>(options.resume_below, 1, pause_at_)) {}

    size_t capacity() const noexcept { return capacity_; }

    /// How many values are written and not yet consumed. While the other thread is active, this is an upper bound for
    /// the writer, a lower bound for the reader and an estimate for a third thread. [any]
    size_t fill() const noexcept {
        // In this order, so that the difference can't be negative.
        const uint64_t read = reader_.seen();
        const uint64_t written = writer_.seen();
        return std::min<size_t>(written - read, capacity_);
    }

    /// Appends values. Returns how many: all, or as WhenFull says. [rt] The writer only.
    size_t write(std::span<const T> values) noexcept {
        size_t count = values.size();
        if (const size_t room = writer_.reach(reader_, count); room < count) {
            if (when_full_ == WhenFull::refuse)
                return 0;
            dropped_.store(dropped() + (count - room), std::memory_order_relaxed);
            count = room;
        }
        const uint64_t position = writer_.position();
        const size_t before_end = std::min(count, to_end(position));
        std::copy_n(values.data(), before_end, at(position));
        if (before_end < count)
            std::copy_n(values.data() + before_end, count - before_end, values_.get());
        writer_.move_to(position + count);
        return count;
    }

    /// Appends a value. Returns whether there was room. [rt] The writer only.
    bool push(const T& value) noexcept { return write({&value, 1}) == 1; }

    /// How many values have been dropped since the start. [any]
    uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

    /// Whether the writer should pause, from the present fill and the previous answer. Writing works all the same. [rt]
    /// The writer only.
    bool paused() noexcept {
        const size_t filled = capacity_ - writer_.reach_now(reader_);
        paused_ = filled >= (paused_ ? resume_below_ : pause_at_);
        return paused_;
    }

    /// Removes and returns the oldest values. The result is how many there were. If that is less than asked for,
    /// WhenEmpty decides about the rest of `values`. [rt] The reader only.
    size_t read(std::span<T> values) noexcept {
        const size_t count = peek(values);
        reader_.move_to(reader_.position() + count);
        return count;
    }

    /// Removes and returns the oldest value. If there is none, returns false and leaves `value` untouched. [rt] The
    /// reader only.
    bool pop(T& value) noexcept {
        if (reader_.reach(writer_, 1) == 0)
            return false;
        const uint64_t position = reader_.position();
        value = *at(position);
        reader_.move_to(position + 1);
        return true;
    }

    /// Like read(), but the values stay in the ring. [rt] The reader only.
    size_t peek(std::span<T> values) noexcept {
        size_t count = values.size();
        if (const size_t filled = reader_.reach(writer_, count); filled < count) {
            if (when_empty_ == WhenEmpty::pad)
                std::fill_n(values.data() + filled, count - filled, T{});
            count = filled;
        }
        const uint64_t position = reader_.position();
        const size_t before_end = std::min(count, to_end(position));
        std::copy_n(at(position), before_end, values.data());
        if (before_end < count)
            std::copy_n(values_.get(), count - before_end, values.data() + before_end);
        return count;
    }

    /// The oldest values in place, at most `most`, valid until they are consumed. Two spans: up to the ring's end, and
    /// from its start on. [rt] The reader only.
    std::array<std::span<const T>, 2> view(size_t most) noexcept {
        const size_t count = std::min(most, reader_.reach(writer_, most));
        const uint64_t position = reader_.position();
        const size_t before_end = std::min(count, to_end(position));
        return {std::span<const T>{at(position), before_end}, {values_.get(), count - before_end}};
    }

    /// Removes up to `count` of the oldest values. Returns how many. [rt] The reader only.
    size_t consume(size_t count) noexcept {
        count = std::min(count, reader_.reach(writer_, count));
        reader_.move_to(reader_.position() + count);
        return count;
    }

private:
    T* at(uint64_t position) const noexcept { return values_.get() + (position & (capacity_ - 1)); }
    size_t to_end(uint64_t position) const noexcept { return capacity_ - (position & (capacity_ - 1)); }

    const size_t capacity_;
    const std::unique_ptr<T[]> values_;
    const WhenFull when_full_;
    const WhenEmpty when_empty_;
    const size_t pause_at_;
    const size_t resume_below_;
    // The writer's cache line, then the reader's.
    alignas(cache_line) RingEnd writer_{capacity_};
    std::atomic<uint64_t> dropped_{0};
    bool paused_ = false;
    alignas(cache_line) RingEnd reader_{0};
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/cache-line.hpp"
#include "engine/rt/ring-end.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace scs {

/// A bounded wait-free ring of byte records of any size, from one producer thread to one consumer thread. A record is
/// contiguous and its first byte is aligned to 8 bytes. It takes 8 bytes plus its size rounded up to 8. A record that
/// would cross the ring's end also takes the rest up to there, which is less than its own size.
class RecordRing {
public:
    /// A ring of `bytes`, rounded up to a power of two (at least 64). Allocates. [main]
    explicit RecordRing(size_t bytes)
        : capacity_(std::bit_ceil(std::max<size_t>(bytes, 64))), bytes_(std::make_unique<std::byte[]>(capacity_)) {}

    size_t capacity() const noexcept { return capacity_; }

    /// Reserves a record of `bytes` (1 … capacity / 4), to be written and then committed; nullptr if the size is out of
    /// range or the ring too full. Replaces a reservation that wasn't committed. [rt] The producer only.
    void* reserve(size_t bytes) noexcept {
        const uint64_t written = writer_.position();
        reserved_end_ = written;
        if (bytes == 0 || bytes > capacity_ / 4) {
            return nullptr;
        }
        const size_t to_end = capacity_ - (written & (capacity_ - 1));
        const size_t skipped = to_end < footprint(bytes) ? to_end : 0;
        const size_t needed = skipped + footprint(bytes);
        if (writer_.reach(reader_, needed) < needed) {
            return nullptr;
        }
        if (skipped != 0) {
            set_header(written, skip_to_start);
        }
        set_header(written + skipped, bytes);
        reserved_end_ = written + needed;
        return at(written + skipped) + header_bytes;
    }

    /// Hands the reserved record to the consumer; does nothing without a reservation. [rt] The
    /// producer only.
    void commit() noexcept { writer_.move_to(reserved_end_); }

    /// Bytes that no committed record occupies. Until the next commit this can only grow. Records fit for sure, in any
    /// order, if their sizes together, plus the largest of them once more, are no more than this. [rt] The producer
    /// only.
    size_t free_bytes() noexcept { return writer_.reach_now(reader_); }

    /// The oldest record, valid until pop(); an empty span when there is none. [rt] The consumer
    /// only.
    std::span<std::byte> peek() noexcept {
        if (reader_.reach(writer_, 1) == 0) {
            return {};
        }
        uint64_t read = reader_.position();
        if (header(read) == skip_to_start) {
            read += capacity_ - (read & (capacity_ - 1));
        }
        const size_t bytes = header(read);
        peeked_end_ = read + footprint(bytes);
        return {at(read) + header_bytes, bytes};
    }

    /// Frees the record that peek() returned, if any. [rt] The consumer only.
    void pop() noexcept { reader_.move_to(peeked_end_); }

private:
    static constexpr size_t header_bytes = 8;
    static constexpr uint64_t skip_to_start = ~uint64_t{0};

    static size_t footprint(size_t bytes) noexcept { return header_bytes + ((bytes + 7) & ~size_t{7}); }
    std::byte* at(uint64_t position) const noexcept { return bytes_.get() + (position & (capacity_ - 1)); }
    uint64_t header(uint64_t position) const noexcept {
        uint64_t value;
        std::memcpy(&value, at(position), sizeof value);
        return value;
    }
    void set_header(uint64_t position, uint64_t value) noexcept { std::memcpy(at(position), &value, sizeof value); }

    const size_t capacity_;
    const std::unique_ptr<std::byte[]> bytes_;
    // The producer's cache line, then the consumer's. Without a reservation, or a peeked record, the end equals the
    // position.
    alignas(cache_line) RingEnd writer_{capacity_};
    uint64_t reserved_end_ = 0;
    alignas(cache_line) RingEnd reader_{0};
    uint64_t peeked_end_ = 0;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "mapped-file.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace scs::test {

/// The file: when something was heard, and how long nothing was. Who listens writes, who reads may look at any time.
/// tests/lib/silences.py knows this layout. All but one are ns of CLOCK_MONOTONIC.
struct SilencesHeader {
    struct Silence {
        std::atomic<uint64_t> end, length;
    };
    static constexpr size_t room = 1024;

    std::atomic<uint64_t> heard;  ///< the last sample that was no silence; 0: none yet
    std::atomic<uint64_t> frames; ///< of the last cycle
    std::atomic<uint64_t> count;  ///< of silences that are over; number n is at n % room
    std::array<Silence, room> silences;
};
static_assert(sizeof(SilencesHeader) == 24 + 1024 * 16);

/// Listens for silences of a few ms and more, in samples and between cycles. A new listener goes on in the file of one
/// that is gone, so that the time between them is a silence, too.
class Silences {
public:
    static constexpr float quiet = 1e-4f;           ///< the loudest sample of a silence
    static constexpr uint64_t shortest = 5'000'000; ///< ns

    /// [main] 0 or a negative errno.
    int open(const std::string& path);

    /// [rt] One cycle that began at `nsec`: `frames` of each channel, null where there was nothing.
    void record(uint64_t nsec, uint32_t frames, uint32_t rate, std::span<const float* const> channels) noexcept;

private:
    void hear(SilencesHeader& header, uint64_t nsec) noexcept;

    MappedFile file_;
};

} // namespace scs::test

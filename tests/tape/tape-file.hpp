// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "mapped-file.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace scs::test {

/// How the file begins; `capacity` frames of interleaved 32 bit floats follow. Who records it writes, who reads
/// it may look at any time. tests/lib/recording.py knows this layout.
struct TapeHeader {
    uint32_t channels;
    uint32_t capacity;            ///< frames
    std::atomic<uint32_t> rate;   ///< Hz
    std::atomic<uint32_t> frames; ///< recorded so far
    std::atomic<uint32_t> leaps;  ///< cycles before which the clock's position was not where it had to be
    std::atomic<uint32_t> empty;  ///< cycles in which an input had nothing; recorded as silence
    std::atomic<uint32_t> full;   ///< 1 once a cycle found no room
};
static_assert(sizeof(TapeHeader) == 28);

/// A recording in memory that is shared with a reader through a file.
class TapeFile {
public:
    /// [main] Gives the file its size and maps it. 0 or a negative errno.
    int open(const std::string& path, uint32_t channels, uint32_t capacity);

    /// [rt] One cycle: `frames` of each channel, null where there was nothing. `position` is that of the clock.
    /// The recording begins after the first cycle in which all channels have something: a new link begins with
    /// one of silence.
    void record(uint64_t position, uint32_t frames, uint32_t rate, std::span<const float* const> channels) noexcept;

private:
    bool leapt(uint64_t position, uint32_t frames) const noexcept;

    MappedFile file_;
    TapeHeader* header_ = nullptr;
    float* samples_ = nullptr;
    bool linked_ = false;
    bool begun_ = false;
    uint64_t last_position_ = 0;
    uint32_t last_frames_ = 0;
};

} // namespace scs::test

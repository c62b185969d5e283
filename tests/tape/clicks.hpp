// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "mapped-file.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scs::test {

/// The file: when clicks were heard, by the driver's clock. Who listens writes, who reads may look at any time.
/// tests/lib/clicks.py knows this layout.
struct ClicksHeader {
    struct Click {
        int64_t wall;    ///< ns since 1970
        double position; ///< frames of the driver's clock; between frames if the click lies between them
        uint64_t channel;
    };
    static constexpr size_t room = 65536;

    std::atomic<uint64_t> cycles;
    std::atomic<uint64_t> leaps; ///< cycles before which the clock's position was not where it had to be
    std::atomic<uint64_t> count; ///< of clicks; number n is at n % room
    std::array<Click, room> clicks;
};
static_assert(sizeof(ClicksHeader) == 24 + 65536 * 24);

/// A cycle as its driver tells of it.
struct CycleStart {
    int64_t wall;      ///< ns since 1970 at which its first frame is due
    uint64_t position; ///< of this frame
    uint32_t frames;
    uint32_t rate; ///< Hz
};

/// Listens for clicks: a peak that is loud, and everything that follows within some ms. Its place between frames is
/// that of a parabola through the loudest sample and its neighbours, so that clicks that were resampled have one, too.
class Clicks {
public:
    static constexpr float loud = 0.2f; ///< resampling makes silent clicks before one of 0.5, but none as loud
    static constexpr uint32_t deaf_per_sec = 200; ///< for the 200th part of a second after a peak

    /// [main] 0 or a negative errno.
    int open(const std::string& path, size_t channels);

    /// [rt] One cycle of each channel, null where there was nothing.
    void record(const CycleStart& cycle, std::span<const float* const> channels) noexcept;

private:
    struct Ear {
        float earlier = 0, last = 0; ///< the two samples before this one
        uint32_t deaf = 0;           ///< frames
    };

    void hear(Ear& ear, uint32_t channel, const CycleStart& cycle, uint32_t frame, float sample) noexcept;
    void note(uint32_t channel, const CycleStart& cycle, double frame) noexcept;

    MappedFile file_;
    std::vector<Ear> ears_;
    uint64_t next_ = 0; ///< position of the cycle to come; 0: not known
};

} // namespace scs::test

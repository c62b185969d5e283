// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/node/io.h>
#include <spa/node/node.h>
#include <spa/support/loop.h>

#include <cstdint>

namespace scs::test {

/// Drives a graph as a sound card does whose crystal is off: its cycles have the same frames at a nominal rate, and
/// come somewhat too early or too late.
class Drive {
public:
    static constexpr uint32_t rate = 48000; ///< Hz, nominal

    Drive() = default;
    ~Drive();
    Drive(const Drive&) = delete;
    Drive& operator=(const Drive&) = delete;

    /// [main] `ppm`: how much too fast it is; `quantum`: frames of each cycle. 0 or a negative errno.
    int open(spa_loop* data_loop, double ppm, uint32_t quantum);
    void set_callbacks(const spa_node_callbacks* callbacks, void* data) noexcept { callbacks_ = {callbacks, data}; }

    /// On the data loop.
    void set_clock(spa_io_clock* clock) noexcept { clock_ = clock; }
    void start() noexcept;
    void stop() noexcept;
    bool is_open() const noexcept { return source_.fd >= 0; }

private:
    static void on_time(spa_source* source);
    void cycle() noexcept;
    void set_timer(uint64_t nsec) noexcept;
    uint64_t due(uint64_t cycle) const noexcept;

    spa_source source_ = [] {
        spa_source none{};
        none.fd = -1;
        return none;
    }();
    spa_loop* loop_ = nullptr;
    spa_callbacks callbacks_{};
    spa_io_clock* clock_ = nullptr;
    uint32_t quantum_ = 0;
    double cycle_nsec_ = 0;
    uint64_t begin_ = 0, cycles_ = 0; ///< ns of CLOCK_MONOTONIC at which it was started; cycles since
    uint64_t position_ = 0;
    bool running_ = false;
};

} // namespace scs::test

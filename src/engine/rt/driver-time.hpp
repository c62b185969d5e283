// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstdint>

namespace scs {

/// The times of cycles whose driver knows only when it was woken, as by a packet of a network: they are late by what
/// the network and the wake-up took, now less and now more. A delay-locked loop of second order finds the even times
/// from which they differ. Once it has the driver's rate it goes by those that were least late: how late the others
/// were changes with what else the machine does.
class DriverTime {
public:
    /// Of the loop, in Hz: what it has in the end. It begins wider, so that it finds the driver's rate within seconds.
    static constexpr double bandwidth = 0.05, first_bandwidth = 1;
    /// From then on (s) a late cycle counts as this late (ns) at most.
    static constexpr double settled = 15, most_late = 20000;
    /// Further off than this part of a cycle, it is no jitter. The loop begins anew, unless some whole cycles were
    /// lost.
    static constexpr double longest_jitter = 0.5;
    /// Up to this number of cycles, within this part of one, are taken for lost. Then only those are left out.
    static constexpr int most_lost = 8;
    static constexpr double close_to_whole = 0.1;

    /// Starts a cycle of that many frames (1 or more) at a nominal rate in Hz, which the driver says began at that
    /// time, in ns of a clock. Returns when it began, smoothed. The first one is what the driver says. [rt]
    uint64_t begin_cycle(uint64_t nsec, uint32_t frames, double rate) noexcept SCS_NONBLOCKING;

    /// Starts anew. [rt]
    void reset() noexcept SCS_NONBLOCKING { *this = {}; }

private:
    uint64_t begin(uint64_t nsec, double cycle_nsec, double rate) noexcept SCS_NONBLOCKING;

    uint64_t reference_nsec_ = 0; ///< what the next cycle is expected at is this and …
    double expected_nsec_ = 0;    ///< … this: a double alone can't hold it to the nanosecond
    double stretch_ = 1;          ///< how much longer the driver's frames are than nominal ones
    double seconds_ = 0;          ///< since it began; 0: it hasn't
    double rate_ = 0;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/engine-watch.hpp"

#include "engine/engine.hpp"
#include "osc/pending-bundles.hpp"

#include <algorithm>
#include <time.h>

namespace scs::osc {

namespace {

using namespace std::chrono_literals;

NtpTime wall_clock() noexcept {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return ntp_from_unix(now.tv_sec, uint32_t(now.tv_nsec));
}

} // namespace

bool EngineWatch::is_stuck(const EngineStatus& engine, bool awaited) noexcept {
    const Clock::time_point now = Clock::now();
    const uint64_t cycles = engine.cycles.load(std::memory_order_relaxed);
    if (cycles != cycles_ || !awaited) {
        cycles_ = cycles;
        cycle_seen_ = now;
        return false;
    }
    if (now - cycle_seen_ < 50ms)
        return false;
    cycle_seen_ = now;
    return true;
}

std::chrono::microseconds EngineWatch::time_to_sleep(const EngineStatus& engine, const PendingBundles& bundles,
                                                     bool awaited, bool clients) noexcept {
    const bool synths_run = engine.synths.load(std::memory_order_relaxed) > 0;
    const bool notifies = clients && (synths_run || synths_ran_);
    // Without synths, bundles and jobs nothing comes from the engine but what was on its way.
    const bool quiet = !bundles.any_submitted() && !synths_run && !synths_ran_ && Clock::now() - event_seen_ > 1s;
    synths_ran_ = synths_run;
    if (awaited)
        return Clock::now() - event_seen_ < 1s ? 1ms : 20ms;
    std::chrono::microseconds sleep = notifies ? 5ms : synths_run ? 50ms : quiet ? 1s : 100ms;
    if (bundles.immediate() > 0)
        sleep = std::min<std::chrono::microseconds>(sleep, 5ms);
    if (const auto time = bundles.next_time()) {
        // Once its time has come it is back within a cycle; if none runs, it waits for the next one.
        const double seconds = ntp_seconds_between(wall_clock(), *time);
        if (seconds > 0)
            sleep = std::min(sleep, std::chrono::microseconds(1000 + int64_t(std::min(seconds, 1.0) * 1e6)));
        else if (seconds > -0.2)
            sleep = 1ms;
    }
    return sleep;
}

} // namespace scs::osc

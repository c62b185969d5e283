// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/engine-watch.hpp"

#include "engine/engine.hpp"
#include "osc/pending-bundles.hpp"
#include "osc/wall-clock.hpp"

#include <algorithm>

namespace scs::osc {

namespace {

using namespace std::chrono_literals;

constexpr auto look_again = 100ms; // at a cycle that doesn't end

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

int32_t EngineWatch::stays_in_cycle(const EngineStatus& engine) noexcept {
    const Clock::time_point now = Clock::now();
    const int32_t thread = engine.in_cycle.load(std::memory_order_relaxed);
    const uint64_t cycle = engine.cycles.load(std::memory_order_relaxed);
    if (!in_cycle_ || thread == 0 || cycle != cycle_) {
        in_cycle_ = thread != 0;
        cycle_ = cycle;
        stays_since_ = now;
        return 0;
    }
    if (now - stays_since_ < look_again)
        return 0;
    stays_since_ = now;
    return thread;
}

std::chrono::microseconds EngineWatch::time_to_sleep(const EngineStatus& engine, const PendingBundles& bundles,
                                                     bool awaited, bool clients) noexcept {
    const bool synths_run = engine.synths.load(std::memory_order_relaxed) > 0;
    const bool notifies = clients && (synths_run || synths_ran_ || engine.bindings.load(std::memory_order_relaxed) > 0);
    // Without synths, bindings, bundles and jobs nothing comes from the engine but what was on its way.
    const bool quiet = !bundles.any_submitted() && !synths_run && !synths_ran_ && Clock::now() - event_seen_ > 1s;
    synths_ran_ = synths_run;
    if (awaited)
        return Clock::now() - event_seen_ < 1s ? 1ms : 20ms;
    std::chrono::microseconds sleep = notifies ? 5ms : synths_run ? 50ms : quiet ? 1s : 100ms;
    if (in_cycle_)
        sleep = std::min<std::chrono::microseconds>(sleep, look_again);
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

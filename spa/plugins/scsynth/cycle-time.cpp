// SPDX-License-Identifier: GPL-3.0-or-later
#include "cycle-time.hpp"

#include <algorithm>
#include <array>

namespace scs::spa {
namespace {

// Once cycles have come so late for so long, somebody leaves the loop no rest. A loop that never sleeps is killed by
// the kernel where it has its priority from RTKit.
constexpr double late_part = 0.5;
constexpr int64_t late_patience = 50'000'000; // ns
// What commands may still take of the limit then: one of them may be what ends the trouble.
constexpr double commands_part = 0.1;

/// The nodes that have run on this thread in the present cycle of a clock.
struct Turns {
    uint32_t clock = 0;
    uint64_t nsec = 0;         ///< which cycle
    int64_t began = 0;         ///< when the first node's turn came
    int count = 0, before = 0; ///< nodes so far; in the cycle before
};

// Initial-exec: other thread-local storage would be allocated when the data loop first touches it.
[[gnu::tls_model("initial-exec")]] thread_local std::array<Turns, 4> turns_of_thread{};

Turns& turns_of(uint32_t clock) noexcept {
    for (Turns& each : turns_of_thread)
        if (each.clock == clock)
            return each;
    Turns& oldest = *std::min_element(turns_of_thread.begin(), turns_of_thread.end(),
                                      [](const Turns& a, const Turns& b) { return a.nsec < b.nsec; });
    oldest = {};
    oldest.clock = clock;
    return oldest;
}

} // namespace

bool CycleTime::behind(const Span& span, int64_t now) noexcept {
    if (double(now - int64_t(span.nsec)) <= late_part * span.duration) {
        late_since_ = 0;
        return false;
    }
    if (late_since_ == 0)
        late_since_ = now;
    return now - late_since_ >= late_patience;
}

CycleLimit CycleTime::begin(const Span& span, int64_t now) noexcept {
    if (cpu_limit_ <= 0)
        return {};
    Turns& turns = turns_of(span.clock);
    if (turns.nsec != span.nsec) {
        turns.before = turns.count;
        turns.count = 0;
        turns.nsec = span.nsec;
        turns.began = now;
    }
    ++turns.count;
    const double part = cpu_limit_ * span.duration / std::max(turns.before, turns.count);
    if (behind(span, now))
        return {.deadline = now + int64_t(part * commands_part), .renders = false};
    return {.deadline = std::max(turns.began + int64_t(part * turns.count), now + int64_t(part))};
}

} // namespace scs::spa

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/long-wait.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/guard/hang-watch.hpp"

#include <algorithm>

namespace scs {

namespace {

constexpr int64_t longest_look = 1'000'000; // ns; a thread that takes more had no processor

} // namespace

void LongWait::go_on() noexcept {
    FaultGuard::progress();
    if (helpers_.failed())
        FaultGuard::give_up();
    if (!helpers_.hurried())
        return;
    const int64_t now = clock_.now();
    waited_ += std::min(now - looked_, longest_look);
    looked_ = now;
    if (waited_ >= helpers_.longest_hang())
        FaultGuard::give_up();
    if (waited_ >= longest_awake)
        HangWatch::let_others_run();
}

} // namespace scs

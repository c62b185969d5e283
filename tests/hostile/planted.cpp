// SPDX-License-Identifier: GPL-3.0-or-later
// Linked into the SPA plugin, for the tests: UGens after which a helper thread's next job crashes or never ends.
// Helpers are asked for whatever there is to compute, and the data loop waits until they have begun.
#include "engine/plugins/registry.hpp"
#include "engine/schedule/help-policy.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <unistd.h>

namespace scs {
namespace {

volatile int* volatile nowhere = nullptr;

enum class Plant { nothing, crash, endless, blocked };
std::atomic<Plant> plant{Plant::nothing};
std::atomic<int> moments{0}; ///< before and after tasks of helpers

void do_planted(HelpPolicy::Moment moment) noexcept {
    if (moment == HelpPolicy::Moment::round) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
        for (const int before = moments; moments == before && std::chrono::steady_clock::now() < end;) {
        }
    }
    if (moment != HelpPolicy::Moment::task)
        return;
    ++moments;
    switch (plant.exchange(Plant::nothing)) {
    case Plant::nothing: break;
    case Plant::crash: *nowhere = 1; break;
    case Plant::endless:
        for (volatile bool more = true; more;) {
        }
        break;
    case Plant::blocked:
        for (volatile bool more = true; more;)
            ::pause();
    }
}

template <Plant what>
void construct(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    plant = what;
}

const struct Planter {
    Planter() {
        PluginRegistry& registry = PluginRegistry::instance();
        registry.define_unit("HelperCrash", sizeof(::Unit), construct<Plant::crash>, nullptr, 0);
        registry.define_unit("HelperEndless", sizeof(::Unit), construct<Plant::endless>, nullptr, 0);
        registry.define_unit("HelperBlocked", sizeof(::Unit), construct<Plant::blocked>, nullptr, 0);
    }
} planter;

} // namespace

/// In place of the library's.
const HelpPolicy HelpPolicy::usual{
    .waking_load = 0, .longest_wait = INT64_MAX, .fewest_ops = 1, .least_work = 1, .at = do_planted};

} // namespace scs

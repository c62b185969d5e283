// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/engine-status.hpp"

#include <algorithm>

namespace scs {

/// Which part of the cycles' time the engine takes. [rt]
class LoadMeter {
public:
    explicit LoadMeter(EngineStatus& status) noexcept : status_(status) {}

    /// A cycle of `period` seconds took `nanoseconds`. The average follows the load within about a second; the peak is
    /// the highest load of about the last second.
    void measure(int64_t nanoseconds, double period) noexcept {
        if (!(period > 0))
            return;
        const auto load = float(100e-9 * double(nanoseconds) / period);
        const float average = status_.average_cpu.load(std::memory_order_relaxed);
        status_.average_cpu.store(average + float(std::min(1., period)) * (load - average), std::memory_order_relaxed);
        peak_age_ += period;
        if (load >= status_.peak_cpu.load(std::memory_order_relaxed) || peak_age_ > 1.) {
            status_.peak_cpu.store(load, std::memory_order_relaxed);
            peak_age_ = 0;
        }
    }

private:
    EngineStatus& status_;
    double peak_age_ = 0; ///< seconds
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/parallel/runs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scs {

/// Divides the items of a block into the stages of a pipeline of blocks. [rt]
class StageCuts {
public:
    static constexpr size_t most_stages = 64;
    /// What is known of the threads that do the work, besides how many they are.
    struct Threads {
        std::span<const double> shares; ///< of all work, each thread's
        double hand_over = 0;           ///< what it costs to go on with what another one has had, as work
        double blocks = 1;              ///< that pass the stages one after the other
    };
    /// Divides the items into `stages` stages at most, which part no run, so that each thread has about its share of
    /// the work, as stages are the threads' in turn (TaskGraph). false: nearly all of it would be one thread's.
    bool find(const Runs&, const Threads&, size_t stages) noexcept SCS_NONBLOCKING;

    size_t stages() const noexcept { return stages_; }
    /// What the blocks would take with these stages, as work.
    double time() const noexcept { return time_; }
    /// The item after a stage's last one.
    size_t end(size_t stage) const noexcept { return ends_[stage]; }
    uint64_t work(size_t stage) const noexcept { return work_[stage]; }

private:
    std::array<size_t, most_stages> ends_{};
    std::array<uint64_t, most_stages> work_{};
    size_t stages_ = 0;
    double time_ = 0;
};

} // namespace scs

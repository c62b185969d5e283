// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/stage-cuts.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr double largest_load = 0.85; // of all work; with more for one thread, the others bring nothing

} // namespace

bool StageCuts::find(const Runs& runs, const Threads& threads_of, size_t stages) noexcept {
    const size_t threads = threads_of.shares.size(), count = runs.count();
    stages = std::min(stages, most_stages);
    const auto all = double(runs.work(0, count));
    std::array<double, most_stages> loads{};
    size_t begin = 0;
    for (stages_ = 0; begin < count && stages_ < stages; ++stages_) {
        // What the thread should have done after this stage: where an earlier one was too long, this one is shorter.
        const size_t thread = stages_ % threads, rounds = stages_ / threads + 1;
        const double wanted = threads_of.shares[thread] * all * double(rounds * threads) / double(stages);
        const size_t end = stages_ + 1 == stages ? count : runs.end_near(begin, wanted - loads[thread]);
        ends_[stages_] = end;
        work_[stages_] = runs.work(begin, end);
        loads[thread] += double(work_[stages_]);
        begin = end;
    }
    double slowest = 0;
    for (size_t i = 0; i < threads; ++i)
        slowest = std::max(slowest, loads[i] / threads_of.shares[i]);
    // At the first block others wait until it comes to them, and at the last one until it has left them.
    double ends = 0;
    for (size_t i = 0; i + 1 < std::min(threads, stages_); ++i)
        ends += double(work(i) + work(stages_ - 1 - i)) / 2;
    time_ = (slowest + double(stages_) * threads_of.hand_over) / double(threads) * threads_of.blocks + ends;
    return stages_ > 1 && *std::max_element(loads.begin(), loads.end()) <= largest_load * all;
}

} // namespace scs

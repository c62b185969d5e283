// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/pipeline.hpp"

#include <algorithm>

namespace scs {

void Pipeline::open(size_t stages, size_t items, size_t at_once, size_t threads) noexcept {
    stage_count_.store(std::clamp<size_t>(stages, 1, most_stages), std::memory_order_relaxed);
    items_.store(items, std::memory_order_relaxed);
    at_once_.store(at_once, std::memory_order_relaxed);
    threads_.store(threads, std::memory_order_relaxed);
    for (Stage& stage : stages_)
        stage.now.store(0, std::memory_order_relaxed);
    stopped_.store(false, std::memory_order_release);
}

bool Pipeline::try_stage(size_t who, size_t stage) noexcept {
    std::atomic<uint64_t>& now = stages_[stage].now;
    uint64_t before = now.load(std::memory_order_relaxed);
    const size_t item = done(before);
    if (before & 1u || item == items_.load(std::memory_order_relaxed))
        return false;
    // What has to be behind us, and how far: the stage before, or for a new item the last stage of an older one.
    const size_t at_once = at_once_.load(std::memory_order_relaxed);
    const size_t last = stage_count_.load(std::memory_order_relaxed) - 1;
    const auto& gate = stages_[stage ? stage - 1 : last].now;
    if (done(gate.load(std::memory_order_acquire)) + (stage ? 0 : at_once) <= item)
        return false;
    if (!now.compare_exchange_strong(before, before | 1u, std::memory_order_acquire, std::memory_order_relaxed))
        return false;
    run_(data_, who, stage, item);
    now.store(before + 2, std::memory_order_release);
    return true;
}

/// Whether the thread whose stage this is has gone far ahead in its stage before it.
bool Pipeline::lags(size_t stage, size_t threads) const noexcept {
    const auto through = [this](size_t at) { return done(stages_[at].now.load(std::memory_order_relaxed)); };
    return through(stage - threads) > through(stage) + threads;
}

bool Pipeline::step(size_t who, bool any) noexcept {
    if (stopped())
        return false;
    const size_t stages = stage_count_.load(std::memory_order_relaxed);
    const size_t threads = threads_.load(std::memory_order_relaxed);
    const auto does = [&](size_t stage) { return any || stage % threads == who; };
    for (size_t stage = stages; stage-- > threads;)
        if (does(stage) && lags(stage, threads) && try_stage(who, stage))
            return true;
    for (size_t stage = 0; stage < stages; ++stage)
        if (does(stage) && try_stage(who, stage))
            return true;
    return false;
}

} // namespace scs

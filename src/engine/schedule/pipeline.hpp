// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/cache-line.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scs {

/// Items that go through the same stages one after the other, several of them at once: a stage of an item comes behind
/// the stage before it of that item, and behind the same stage of the item before. So two threads are busy as soon as
/// the first item has left the first stage, though each item's work, and each stage's, is done in order.
/// What somebody wrote in a stage is visible to who does what comes behind it. Lock-free. [rt]
class Pipeline {
public:
    static constexpr size_t most_stages = 64;
    /// [any thread that calls step()] Does a stage of an item. `who` is step()'s.
    using Run = void (*)(void* data, size_t who, size_t stage, size_t item) noexcept;

    Pipeline(Run run, void* data) noexcept : run_(run), data_(data) {}

    /// [owner] Begins with item 0. `at_once`, at least 1: an item is begun when the one so many before it is through.
    /// `threads`: how many call step(), each with a number `who` below that. No thread may be in step().
    void open(size_t stages, size_t items, size_t at_once, size_t threads) noexcept;
    /// Does one stage of one item, if there is one to be done now: of those that belong to this thread, whose memory is
    /// in its core's cache, or, if `any`, of all. They belong to the threads in turn. The earlier ones come first, so
    /// that others soon have something to do, but no more than some items ahead of the later ones: these are what is
    /// left to do while others are at the last items. false: there was none.
    bool step(size_t who, bool any) noexcept;
    /// Whether all items are through the first stage of this thread, so that they soon are through the others, too.
    bool near_end(size_t who) const noexcept {
        const size_t stage = std::min(who, stage_count_.load(std::memory_order_relaxed) - 1);
        return done(stages_[stage].now.load(std::memory_order_relaxed)) == items_.load(std::memory_order_relaxed);
    }
    /// Whether nothing is left to be begun.
    bool over() const noexcept {
        return stopped_.load(std::memory_order_relaxed) || through() == items_.load(std::memory_order_relaxed);
    }
    /// Nothing is begun any more.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    /// How many items are through all stages.
    size_t through() const noexcept {
        return done(stages_[stage_count_.load(std::memory_order_relaxed) - 1].now.load(std::memory_order_acquire));
    }

private:
    /// Twice the number of items that are through the stage, and 1 while it is being done.
    struct alignas(cache_line) Stage {
        std::atomic<uint64_t> now{0};
    };
    static size_t done(uint64_t now) noexcept { return size_t(now / 2); }
    bool try_stage(size_t who, size_t stage) noexcept;
    bool lags(size_t stage, size_t threads) const noexcept;

    Run run_;
    void* data_;
    // Set by open() alone; threads that are told of it by other means see them.
    std::atomic<size_t> stage_count_{1}, items_{0}, at_once_{1}, threads_{1};
    alignas(cache_line) std::atomic<bool> stopped_{false};
    std::array<Stage, most_stages> stages_;
};

} // namespace scs

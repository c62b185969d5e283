// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "engine/rt/ring-buffer.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace scs {

/// What other threads give to the data loop: bundles, and commands whose jobs are done. The way back is the Outbox.
class Inbox {
public:
    /// [worker] The number of bundles that may be submitted and not yet retired.
    explicit Inbox(size_t most_bundles) : most_bundles_(most_bundles), bundles_(most_bundles), results_(most_bundles) {}

    /// [any]
    size_t most_bundles() const noexcept { return most_bundles_; }

    /// [osc] false: too many bundles are on their way; the caller still owns this one.
    bool submit(CommandBundle* bundle) noexcept {
        if (!reserve())
            return false;
        if (bundles_.push(bundle))
            return true;
        in_flight_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    /// [osc] Makes room for a bundle that gets to the data loop with a command, and not by submit(). false: as there.
    bool reserve() noexcept {
        if (in_flight_.load(std::memory_order_relaxed) >= most_bundles_)
            return false;
        in_flight_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    /// [worker or a plugin's own thread] Gives a command back after its work(). false: the queue is full.
    bool finish_job(Command* command) noexcept {
        const std::lock_guard lock(results_producers_);
        return results_.push(command);
    }

    /// [any] Whether commands wait there.
    bool any_results() const noexcept { return results_.fill() > 0; }

    /// [rt] The next bundle, or null.
    CommandBundle* take_bundle() noexcept { return take(bundles_); }
    /// [rt] The next command whose job is done, or null.
    Command* take_result() noexcept { return take(results_); }
    /// [rt] A bundle is about to be handed back as retired: there is room for another one.
    void retire() noexcept { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

private:
    template <class T>
    static T* take(RingBuffer<T*>& queue) noexcept {
        T* first = nullptr;
        return queue.pop(first) ? first : nullptr;
    }

    const size_t most_bundles_;
    RingBuffer<CommandBundle*> bundles_;
    RingBuffer<Command*> results_;
    std::mutex results_producers_; ///< never taken by the data loop
    std::atomic<size_t> in_flight_{0};
};

} // namespace scs

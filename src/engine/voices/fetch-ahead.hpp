// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <algorithm>
#include <cstddef>

namespace scs {

/// Prefetches what has its turn after a batch while the batch is computed, one pointer at a time. Between two cycles
/// other programs, or a core that sleeps, empty the caches; without this the first block waits twice as long for
/// memory. [rt]
class FetchAhead {
public:
    FetchAhead(const Batch& batch, size_t operations) noexcept
        : last_(batch.synths[batch.last()]),
          interval_(std::max(operations / (steps + 1), size_t(1))),
          next_step_(interval_) {
        fetch(last_, sizeof *last_);
    }

    /// To be called after each operation.
    void go_on() noexcept {
        if (++passed_ == next_step_) {
            next_step_ += interval_;
            take_step();
        }
    }

private:
    static constexpr size_t steps = 3, most_bytes = 4096, cache_line = 64;

    static void fetch(const void* from, size_t bytes) noexcept {
        const auto* at = static_cast<const char*>(from);
#pragma GCC unroll 8
        for (size_t i = 0; i < bytes; i += cache_line)
            __builtin_prefetch(at + i);
    }

    void take_step() noexcept {
        switch (step_++) {
        case 0:
            fetch(last_->voice, sizeof *last_->voice);
            if (last_->next)
                fetch(last_->next, sizeof *last_);
            break;
        case 1:
            if (last_->next && !last_->next->is_group)
                next_ = static_cast<const Synth*>(last_->next)->voice;
            if (next_)
                fetch(next_, sizeof *next_);
            break;
        case 2:
            if (next_ && next_->batch)
                fetch(next_->batch, std::min(Batch::bytes(*next_->code), most_bytes));
            break;
        default: // everything has been fetched
            break;
        }
    }

    const Synth* last_;
    const Voice* next_ = nullptr;
    size_t interval_, next_step_; ///< in operations
    size_t passed_ = 0, step_ = 0;
};

} // namespace scs

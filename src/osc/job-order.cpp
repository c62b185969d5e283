// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/job-order.hpp"

#include <algorithm>

namespace scs::osc {

namespace {

bool overlap(const JobBuffers& a, const JobBuffers& b) noexcept {
    if (a.any || b.any)
        return true;
    return std::ranges::find_first_of(a.named, b.named) != a.named.end();
}

} // namespace

void JobOrder::open(Command& command) noexcept {
    command.job_order = ++opened_;
    command.next_open = nullptr;
    (first_open_ ? last_open_->next_open : first_open_) = &command;
    last_open_ = &command;
}

void JobOrder::finish(Command& command) noexcept {
    command.job_order = 0;
    Command* before = nullptr;
    for (Command* c = first_open_; c; before = c, c = c->next_open) {
        if (c != &command)
            continue;
        (before ? before->next_open : first_open_) = c->next_open;
        if (c == last_open_)
            last_open_ = before;
        return;
    }
}

void JobOrder::begin() noexcept {
    if (buffer_waits_)
        std::fill(waits_.begin(), waits_.end(), false);
    any_waits_ = buffer_waits_ = any_buffer_waits_ = plugin_waits_ = false;
}

bool JobOrder::must_wait(Command& job) noexcept {
    // Plugins' commands that are opened from now on came later, unless one of those that wait came before.
    if (job.job_kind() == JobKind::barrier && job.job_order == 0 && !plugin_waits_)
        job.job_order = opened_ + 1;
    const bool waits = conflicts_with_waiting(job) || conflicts_with_open(job);
    if (waits)
        note_waiting(job);
    return waits;
}

bool JobOrder::conflicts_with_open(Command& job) const noexcept {
    switch (job.job_kind()) {
    case JobKind::plain:
    case JobKind::plugin: return false; // these are done one after the other in any case
    case JobKind::barrier:
        // Those that come later don't hold it up.
        if (job.job_order == 0)
            job.job_order = opened_ + 1;
        return first_open_ && first_open_->job_order < job.job_order;
    case JobKind::buffer:
        for (const Command* c = first_open_; c; c = c->next_open)
            if (overlap(c->job_buffers(), job.job_buffers()))
                return true;
        return false;
    }
    return false;
}

bool JobOrder::conflicts_with_waiting(const Command& job) const noexcept {
    const JobKind kind = job.job_kind();
    if (!any_waits_ || kind == JobKind::plain)
        return false;
    if (kind == JobKind::barrier || (kind == JobKind::plugin && plugin_waits_))
        return true;
    const JobBuffers buffers = job.job_buffers();
    if (any_buffer_waits_ || (buffers.any && buffer_waits_))
        return true;
    return std::ranges::any_of(buffers.named, [&](int32_t index) {
        return index >= 0 && size_t(index) < waits_.size() && waits_[size_t(index)];
    });
}

void JobOrder::note_waiting(const Command& job) noexcept {
    const JobKind kind = job.job_kind();
    if (kind == JobKind::barrier) // nothing waits for it but other barriers, which wait for the same
        return;
    any_waits_ = true;
    plugin_waits_ = plugin_waits_ || kind == JobKind::plugin;
    const JobBuffers buffers = job.job_buffers();
    any_buffer_waits_ = any_buffer_waits_ || buffers.any;
    for (const int32_t index : buffers.named)
        if (index >= 0 && size_t(index) < waits_.size())
            buffer_waits_ = waits_[size_t(index)] = true;
}

} // namespace scs::osc

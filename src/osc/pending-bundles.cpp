// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/pending-bundles.hpp"

#include "engine/engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace scs::osc {

namespace {

constexpr size_t most_bundles = Engine::most_bundles;
constexpr size_t most_scheduled = 8192; ///< of these: they may stay for years

bool is_scheduled(const std::unique_ptr<CommandBundle>& bundle) noexcept {
    return bundle->time != immediately;
}

} // namespace

bool PendingBundles::have_room_for(size_t bundles, size_t scheduled) const noexcept {
    if (scheduled > 0 && scheduled_ + scheduled > most_scheduled)
        return false;
    return waiting_.size() + submitted_ + bundles <= most_bundles;
}

void PendingBundles::push_back(std::unique_ptr<CommandBundle> bundle) {
    waiting_.push_back(std::move(bundle));
    scheduled_ += is_scheduled(waiting_.back());
}

void PendingBundles::push_front(std::unique_ptr<CommandBundle> bundle) {
    waiting_.push_front(std::move(bundle));
    scheduled_ += is_scheduled(waiting_.front());
}

bool PendingBundles::submit_first(Engine& engine) noexcept {
    const NtpTime time = waiting_.front()->time;
    if (!engine.submit(waiting_.front().get()))
        return false;
    // The data loop may be done with it already: only the pointer is ours to drop.
    (void)waiting_.front().release();
    waiting_.pop_front();
    ++submitted_;
    if (time == immediately) {
        ++immediate_;
        return true;
    }
    try {
        times_.insert(time);
    } catch (const std::bad_alloc&) { // the OSC thread looks for its reply a little later
    }
    return true;
}

void PendingBundles::note_given() noexcept {
    ++submitted_;
    ++immediate_;
}

void PendingBundles::refuse_waiting(ReplyPort& port, std::string_view why) {
    for (; !waiting_.empty(); waiting_.pop_front())
        for (Command* command = waiting_.front()->first; command; command = command->next)
            command->refuse(port, why);
}

void PendingBundles::note_job(Command& command) noexcept {
    if (!command.bundle)
        return; // a plugin's own: no reply of it says that it has come back
    command.counted_as_job = true;
    ++open_jobs_;
}

void PendingBundles::note_reply(const Command& command) noexcept {
    open_jobs_ -= command.counted_as_job;
}

void PendingBundles::retire(CommandBundle* bundle) noexcept {
    --submitted_;
    if (bundle->time == immediately) {
        --immediate_;
    } else {
        --scheduled_;
        if (const auto it = times_.find(bundle->time); it != times_.end())
            times_.erase(it);
    }
    delete bundle;
}

void PendingBundles::forget_submitted() noexcept {
    submitted_ = immediate_ = 0;
    times_.clear();
    scheduled_ = size_t(std::ranges::count_if(waiting_, is_scheduled));
    open_jobs_ = 0;
}

bool PendingBundles::await_data_loop(int worker_jobs) const noexcept {
    return immediate_ > size_t(std::max(worker_jobs, 0)) || open_jobs_ > worker_jobs || !waiting_.empty();
}

std::optional<NtpTime> PendingBundles::next_time() const noexcept {
    if (times_.empty())
        return {};
    return *times_.begin();
}

} // namespace scs::osc

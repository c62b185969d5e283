// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/pending-bundles.hpp"

#include "engine/engine.hpp"
#include "osc/reply-to.hpp"
#include "osc/wall-clock.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace scs::osc {

namespace {

constexpr size_t most_bundles = Engine::most_bundles;
constexpr size_t most_scheduled = 9362; ///< of these: they may stay for years. A sender who is alone may have 8192

// A sender's share is limited by what it leaves to the others (dynamic thresholds, Choudhury and Hahne, 1998). One that
// can be refused may have 7 times the bundles and twice the bytes that are free; one that can be left waiting, an
// eighth of them.
constexpr size_t bundles_over_free = 7, bytes_over_free = 2, free_over_patient = 8;
/// Of a sender who can be left waiting. With what the engine has at once, its answers stay below TcpPort::max_unsent.
constexpr size_t most_patient_bytes = 512 * 1024;

uint64_t number_of(const Endpoint& sender) noexcept {
    return to_reply_to(sender, 0).client;
}

bool is_scheduled(const CommandBundle& bundle) noexcept {
    return bundle.time != immediately;
}

} // namespace

size_t PendingBundles::free() const noexcept {
    const size_t taken = waiting_.size() + submitted_;
    return taken < most_bundles ? most_bundles - taken : 0;
}

size_t PendingBundles::free_scheduled() const noexcept {
    const size_t taken = waiting_scheduled_ + scheduled_;
    return taken < most_scheduled ? most_scheduled - taken : 0;
}

/// With the engine.
size_t PendingBundles::scheduled_of(uint64_t sender) const noexcept {
    const auto found = scheduled_by_.find(sender);
    return found == scheduled_by_.end() ? 0 : found->second;
}

void PendingBundles::note_scheduled(const CommandBundle& bundle) noexcept {
    ++scheduled_;
    try {
        times_.insert(bundle.time); // without memory the OSC thread looks for its reply a little later
        ++scheduled_by_[bundle.sender];
    } catch (const std::bad_alloc&) {
    }
}

void PendingBundles::forget_scheduled(const CommandBundle& bundle) noexcept {
    --scheduled_;
    if (const auto it = times_.find(bundle.time); it != times_.end())
        times_.erase(it);
    if (const auto by = scheduled_by_.find(bundle.sender); by != scheduled_by_.end() && --by->second == 0)
        scheduled_by_.erase(by);
}

bool PendingBundles::have_room_for(const Endpoint& from, size_t bundles, size_t scheduled,
                                   size_t free_bytes) const noexcept {
    const uint64_t sender = number_of(from);
    const FairQueue::Share share = waiting_.share(sender);
    if (scheduled > 0 &&
        (scheduled > free_scheduled() || share.scheduled + scheduled_of(sender) > bundles_over_free * free_scheduled()))
        return false;
    return bundles <= free() && share.bundles <= bundles_over_free * free() &&
           share.bytes <= FairQueue::burst + bytes_over_free * free_bytes;
}

bool PendingBundles::have_room_soon(const Endpoint& from, size_t free_bytes) const noexcept {
    const FairQueue::Share share = waiting_.share(number_of(from));
    return free_over_patient * share.bundles < free() && share.bytes < most_patient_bytes &&
           free_over_patient * share.bytes <= free_bytes;
}

void PendingBundles::push_back(std::unique_ptr<CommandBundle> bundle, const Endpoint& from) {
    const bool scheduled = is_scheduled(*bundle);
    bundle->sender = number_of(from);
    waiting_.push(std::move(bundle));
    waiting_scheduled_ += scheduled;
}

void PendingBundles::push_front(std::unique_ptr<CommandBundle> bundle) {
    const bool scheduled = is_scheduled(*bundle);
    waiting_.push_first(std::move(bundle));
    waiting_scheduled_ += scheduled;
}

bool PendingBundles::submit_first(Engine& engine) noexcept {
    CommandBundle& bundle = waiting_.first();
    const NtpTime time = bundle.time;
    const bool at_once = time == immediately || time <= wall_clock();
    if ((at_once && charged_ >= most_at_once) || !engine.submit(&bundle))
        return false;
    (void)waiting_.take_first().release(); // it comes back as retired
    ++submitted_;
    if (!at_once)
        bundle.weight = 0;
    charged_ += bundle.weight;
    if (time == immediately) {
        ++immediate_;
        return true;
    }
    --waiting_scheduled_;
    note_scheduled(bundle);
    return true;
}

void PendingBundles::note_given() noexcept {
    ++submitted_;
    ++immediate_;
}

void PendingBundles::refuse_waiting(ReplyPort& port, std::string_view why) {
    while (!waiting_.empty()) {
        const std::unique_ptr<CommandBundle> bundle = waiting_.take_first();
        waiting_scheduled_ -= is_scheduled(*bundle);
        for (Command* command = bundle->first; command; command = command->next)
            command->refuse(port, why);
    }
}

void PendingBundles::note_job(Command& command) noexcept {
    if (!command.bundle)
        return; // a plugin's own: no reply of it says that it has come back
    command.counted_as_job = true;
    ++open_jobs_;
    uncharge(*command.bundle); // it may take minutes
}

void PendingBundles::uncharge(CommandBundle& bundle) noexcept {
    charged_ -= std::exchange(bundle.weight, 0);
}

void PendingBundles::note_reply(const Command& command) noexcept {
    open_jobs_ -= command.counted_as_job;
}

void PendingBundles::retire(CommandBundle* bundle) noexcept {
    --submitted_;
    uncharge(*bundle);
    if (bundle->time == immediately)
        --immediate_;
    else
        forget_scheduled(*bundle);
    delete bundle;
}

void PendingBundles::forget_submitted() noexcept {
    submitted_ = immediate_ = scheduled_ = charged_ = 0;
    times_.clear();
    scheduled_by_.clear();
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

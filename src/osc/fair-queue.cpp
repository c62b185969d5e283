// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/fair-queue.hpp"

#include <algorithm>

namespace scs::osc {

FairQueue::Share FairQueue::share(uint64_t sender) const noexcept {
    const auto account = accounts_.find(sender);
    return account == accounts_.end() ? Share() : account->second.share;
}

void FairQueue::push(std::unique_ptr<CommandBundle> bundle) {
    const auto found = accounts_.find(bundle->sender);
    const uint64_t before = std::max(found == accounts_.end() ? 0 : found->second.end, now_);
    const Place place{std::max(now_, before - std::min<uint64_t>(before, burst)), ++newest_};
    const auto entry = waiting_.try_emplace(place).first;
    try {
        Account& account = accounts_[bundle->sender];
        account.end = before + bundle->weight;
        account.share.bytes += bundle->weight;
        account.share.scheduled += bundle->time != immediately;
        ++account.share.bundles;
    } catch (...) {
        waiting_.erase(entry);
        throw;
    }
    entry->second = std::move(bundle);
}

void FairQueue::push_first(std::unique_ptr<CommandBundle> bundle) {
    waiting_.try_emplace(Place{0, --first_}).first->second = std::move(bundle);
}

std::unique_ptr<CommandBundle> FairQueue::take_first() noexcept {
    const auto entry = waiting_.begin();
    const auto [time, arrival] = entry->first;
    now_ = std::max(now_, time);
    std::unique_ptr<CommandBundle> bundle = std::move(entry->second);
    waiting_.erase(entry);
    if (const auto account = accounts_.find(bundle->sender); arrival > 0 && account != accounts_.end()) {
        Share& share = account->second.share;
        share.bytes -= bundle->weight;
        share.scheduled -= bundle->time != immediately;
        if (--share.bundles == 0)
            accounts_.erase(account);
    }
    return bundle;
}

} // namespace scs::osc

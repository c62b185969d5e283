// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/state-keeper.hpp"

#include "osc/clients.hpp"
#include "osc/state-query.hpp"

#include <algorithm>
#include <new>
#include <unordered_set>
#include <utility>
#include <variant>

namespace scs::osc {

namespace {

using namespace std::chrono_literals;

// Between two copies, and for each page of the one before: a large tree is copied less often.
constexpr auto between_copies = 200ms, for_each_page = 20ms;
constexpr auto between_pages = 2ms;

/// Satellites after what they belong to; without that they are left out.
void put_satellites_last(std::vector<NodeState>& nodes) {
    const auto is_none = [](const NodeState& node) { return node.satellite == Satellite::no; };
    auto placed = std::stable_partition(nodes.begin(), nodes.end(), is_none);
    if (placed == nodes.end())
        return;
    std::unordered_set<int32_t> there;
    for (auto fresh = nodes.begin(); fresh != placed;) {
        for (; fresh != placed; ++fresh)
            there.insert(fresh->id);
        placed = std::stable_partition(placed, nodes.end(),
                                       [&](const NodeState& node) { return there.contains(node.parent); });
    }
    nodes.erase(placed, nodes.end());
}

} // namespace

std::unique_ptr<CommandBundle> StateKeeper::next_query(int control_buses, const Clients& clients,
                                                       Clock::time_point now) {
    const auto time = time_to_next(now);
    if (!time || time->count() > 0)
        return nullptr;
    if (!page_)
        page_ = std::make_shared<StatePage>(control_buses);
    auto bundle = std::make_unique<CommandBundle>();
    bundle->append(new StateQuery(page_, [this] { take_page(); }));
    if (!growing_) {
        page_->begin();
        growing_ = std::make_unique<TreeState>();
        changed_ = false;
        pages_ = 0;
        while (Handback* job = waiting_.pop_front())
            served_.push_back(job);
    }
    note_logins(clients);
    next_ = now + between_pages;
    return bundle;
}

std::optional<std::chrono::microseconds> StateKeeper::time_to_next(Clock::time_point now) const noexcept {
    if (asked_ || (!growing_ && !changed_ && waiting_.empty()))
        return {};
    if (!growing_ && !waiting_.empty())
        return 0us;
    return std::max(0us, std::chrono::ceil<std::chrono::microseconds>(next_ - now));
}

void StateKeeper::note_logins(const Clients& clients) {
    logins_.clear();
    for (const Clients::Login& each : clients.all())
        if (const auto* peer = std::get_if<UdpPeer>(&each.endpoint))
            logins_.push_back({*peer, each.id});
}

void StateKeeper::take_page() {
    asked_ = false;
    ++pages_;
    if (page_->lost_its_place() || !append_page()) { // what is missing would be taken for gone: from the beginning
        page_->begin();
        growing_->nodes.clear();
        return;
    }
    if (!page_->is_last())
        return;
    put_satellites_last(growing_->nodes);
    growing_->logins = logins_;
    next_ = Clock::now() + between_copies + pages_ * for_each_page;
    {
        std::shared_ptr<const TreeState> complete = std::move(growing_);
        const std::lock_guard lock(mutex_);
        latest_.swap(complete);
    }
    copies_.fetch_add(1, std::memory_order_acq_rel);
    while (Handback* job = served_.pop_front())
        ready_.push_back(job);
}

/// false: there is no memory for it.
bool StateKeeper::append_page() noexcept {
    try {
        if (page_->is_first())
            growing_->control_buses.assign(page_->buses().begin(), page_->buses().end());
        page_->append_to(growing_->nodes);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void StateKeeper::end_waiting() noexcept {
    for (HandbackList* jobs : {&served_, &waiting_})
        while (Handback* job = jobs->pop_front())
            ready_.push_back(job);
}

void StateKeeper::forget_engine() noexcept {
    asked_ = false;
    page_ = nullptr;
    growing_ = nullptr;
    changed_ = always_;
    waiting_ = served_ = ready_ = {};
}

std::shared_ptr<const TreeState> StateKeeper::take_latest() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, {});
}

std::shared_ptr<const TreeState> StateKeeper::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

} // namespace scs::osc

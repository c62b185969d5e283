// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/holder-watch.hpp"

#include <algorithm>
#include <exception>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr int pause_factor = 4, interval_factor = 200;
constexpr std::chrono::seconds most_saved{2};
constexpr std::chrono::milliseconds pause_after_failure{100};

} // namespace

HolderWatch::HolderWatch(std::string proc) : proc_(std::move(proc)) {}

HolderWatch::Known& HolderWatch::entry(const SocketId& socket, Clock::time_point now) {
    auto it = known_.find(socket.cookie);
    if (it == known_.end()) {
        if (known_.size() >= most_known)
            known_.erase(std::ranges::min_element(
                known_, {}, [](const auto& each) { return std::pair(each.second.holders.obeyed, each.second.used); }));
        it = known_.try_emplace(socket.cookie).first;
        it->second.socket = socket;
        changed_.notify_one();
    }
    it->second.used = now;
    return it->second;
}

HolderWatch::Answer HolderWatch::ask(const SocketId& socket, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    Known& known = entry(socket, now);
    if (!known.answered)
        return Answer::later;
    const auto age = now - known.looked;
    if (!known.asked && age >= std::max<Clock::duration>(interval, interval_factor * took_)) {
        known.asked = true;
        changed_.notify_one();
    }
    if (age >= std::max<Clock::duration>(lifetime, 2 * interval_factor * took_)) {
        known.answered = false;
        return Answer::later;
    }
    return known.holders.obeyed ? Answer::obeyed : Answer::refused;
}

std::string HolderWatch::why(const SocketId& socket) const {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(socket.cookie);
    return it == known_.end() ? "" : it->second.holders.why;
}

std::vector<SocketId> HolderWatch::asked() const {
    std::vector<SocketId> result;
    for (const auto& [cookie, known] : known_)
        if (known.asked)
            result.push_back(known.socket);
    return result;
}

bool HolderWatch::wait(std::unique_lock<std::mutex>& lock) {
    const auto is_asked = [](const auto& each) { return each.second.asked; };
    changed_.wait(lock, [&] { return stopped_ || std::ranges::any_of(known_, is_asked); });
    changed_.wait_until(lock, not_before_, [&] { return stopped_; });
    return !stopped_;
}

/// False: it couldn't be found out now.
bool HolderWatch::look(std::unique_lock<std::mutex>& lock) {
    const std::vector<SocketId> sockets = asked();
    lock.unlock();
    const auto began = Clock::now();
    std::vector<Holders> holders;
    const auto is_stopped = [this] {
        const std::lock_guard each(mutex_);
        return stopped_;
    };
    try {
        holders = find_holders(proc_, ::geteuid(), sockets, is_stopped);
    } catch (const std::exception&) {
    }
    lock.lock();
    took_ = Clock::now() - began;
    all_took_ += took_;
    ++looks_;
    for (size_t i = 0; i < holders.size(); ++i) {
        const auto it = known_.find(sockets[i].cookie);
        if (it == known_.end())
            continue;
        it->second.asked = false;
        it->second.answered = true;
        it->second.holders = std::move(holders[i]);
        it->second.looked = began;
    }
    return !holders.empty();
}

void HolderWatch::run(const std::function<void()>& tell) {
    std::unique_lock lock(mutex_);
    while (wait(lock)) {
        bool found = false;
        try {
            found = look(lock);
        } catch (const std::exception&) { // no memory for what is asked
        }
        if (!lock.owns_lock())
            lock.lock();
        const auto now = Clock::now();
        saved_ = std::min<Clock::duration>(saved_ + (now - took_ - looked_) / pause_factor, most_saved) - took_;
        looked_ = now;
        not_before_ = now + (!found ? Clock::duration(pause_after_failure)
                                    : std::max(-saved_, Clock::duration::zero()) * pause_factor);
        lock.unlock();
        tell();
        lock.lock();
    }
}

void HolderWatch::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

std::pair<uint64_t, HolderWatch::Clock::duration> HolderWatch::effort() const {
    const std::lock_guard lock(mutex_);
    return {looks_, all_took_};
}

} // namespace scs::osc

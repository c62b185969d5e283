// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace scs::osc {

/// Bundles that wait, in an order that is fair to those who sent them: start-time fair queueing (Goyal, Vin and Cheng,
/// 1996) with an allowance for bursts. As long as no sender has more than `burst` waiting, that is the order in which
/// they came. What a sender has beyond that comes after what the others have sent meanwhile. Bundles of one sender stay
/// in their order. [osc]
class FairQueue {
public:
    static constexpr size_t burst = 65536; ///< bytes

    /// What a sender has waiting.
    struct Share {
        size_t bundles = 0;
        size_t scheduled = 0; ///< of these, for a later time
        size_t bytes = 0;
    };

    bool empty() const noexcept { return waiting_.empty(); }
    size_t size() const noexcept { return waiting_.size(); }
    /// `sender`: CommandBundle::sender.
    Share share(uint64_t sender) const noexcept;

    /// Its `weight` is what it counts for, in bytes, its `sender` for whom. Without memory nothing changes, and it
    /// throws std::bad_alloc.
    void push(std::unique_ptr<CommandBundle>);
    /// To come before all others.
    void push_first(std::unique_ptr<CommandBundle>);
    /// The next one; only if not empty().
    CommandBundle& first() noexcept { return *waiting_.begin()->second; }
    std::unique_ptr<CommandBundle> take_first() noexcept;

private:
    /// Bytes of virtual time, and the order of arrival.
    using Place = std::pair<uint64_t, int64_t>;
    struct Account {
        Share share;
        uint64_t end = 0; ///< virtual time at which what it has sent will have been served
    };

    std::map<Place, std::unique_ptr<CommandBundle>> waiting_;
    std::unordered_map<uint64_t, Account> accounts_; ///< of those who have something waiting
    uint64_t now_ = 0;                               ///< virtual
    int64_t newest_ = 0, first_ = 0;                 ///< of arrival
};

} // namespace scs::osc

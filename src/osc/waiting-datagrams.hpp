// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/endpoint.hpp"
#include "osc/sender-lookup.hpp"
#include "osc/udp-socket.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace scs::osc {

/// Datagrams of senders of whom it isn't known yet whether they are obeyed, in the order in which they came. Memory is
/// bounded, and half of it is left to senders that have none here. [osc]
class WaitingDatagrams {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr size_t most_bytes = size_t(4) << 20, most_of_one = most_bytes / 2;
    static constexpr size_t overhead = 4096; ///< counted for each, so that there are no more than a thousand
    static constexpr std::chrono::seconds patience{2};

    struct Datagram {
        std::vector<std::byte> bytes;
        UdpPeer from;
        SenderLookup::Sender sender;
        Clock::time_point came;
    };

    bool any_of(const UdpPeer& from) const noexcept {
        return std::ranges::any_of(list_, [&](const Datagram& each) { return each.from == from; });
    }

    /// False: there is no room.
    bool add(const UdpSocket::Datagram& datagram, const SenderLookup::Sender& sender, Clock::time_point now) {
        size_t of_one = cost(datagram.bytes.size());
        for (const Datagram& each : list_)
            of_one += each.from == datagram.from ? cost(each.bytes.size()) : 0;
        if (of_one > most_of_one || bytes_ + cost(datagram.bytes.size()) > most_bytes)
            return false;
        list_.push_back({{datagram.bytes.begin(), datagram.bytes.end()}, datagram.from, sender, now});
        bytes_ += cost(datagram.bytes.size());
        return true;
    }

    /// Asks of each whether it is obeyed: nothing if it goes on waiting, and then so do those of its sender that came
    /// after it.
    template <class Obeyed, class Take>
    void take(Obeyed&& obeyed, Take&& take) {
        std::vector<UdpPeer> held_up;
        for (auto it = list_.begin(); it != list_.end();) {
            const auto each = it++;
            if (std::ranges::find(held_up, each->from) != held_up.end())
                continue;
            const std::optional<bool> answer = obeyed(std::as_const(*each));
            if (!answer) {
                held_up.push_back(each->from);
                continue;
            }
            if (*answer)
                take(std::as_const(*each));
            bytes_ -= cost(each->bytes.size());
            list_.erase(each);
        }
    }

private:
    static size_t cost(size_t bytes) noexcept { return bytes + overhead; }

    std::list<Datagram> list_;
    size_t bytes_ = 0;
};

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/line-limit.hpp"
#include "osc/sender-lookup.hpp"
#include "osc/server-settings.hpp"
#include "osc/udp-socket.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <time.h>

namespace scs::osc {

/// Decides who is obeyed: the user of this process and root, or, with the setting `allow`, anybody. [osc]
class Admission {
public:
    /// [main] Fails if the setting asks for what the kernel doesn't tell.
    static Result<Admission> open(const ServerSettings&);

    /// Where refused packets and connections are counted, and who writes to the log. To be called before the others.
    void report_to(std::atomic<uint64_t>& refused, std::function<void(const std::string&)> warn);

    /// Whether a datagram that was received from the socket `at` is obeyed. The kernel is asked after it has arrived:
    /// one answer also serves further datagrams of that sender if they arrived before the question.
    bool admits(const UdpSocket::Datagram&, int at);
    /// Whether a connection that was just accepted is.
    bool admits(int connection);
    /// Forgets the last answer.
    void begin_turn() noexcept { asked_ = {}; }

private:
    bool obeys(const SenderLookup::Sender&, const char* what) noexcept;

    std::optional<SenderLookup> lookup_; ///< none: everybody is obeyed
    std::atomic<uint64_t>* refused_ = nullptr;
    std::function<void(const std::string&)> warn_;
    LineLimit lines_{3, std::chrono::seconds(10)};

    UdpPeer last_;
    timespec asked_{}; ///< CLOCK_REALTIME; 0: not yet
    SenderLookup::Sender answer_;
};

} // namespace scs::osc

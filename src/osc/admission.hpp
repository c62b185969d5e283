// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/line-limit.hpp"
#include "osc/holder-watch.hpp"
#include "osc/sender-lookup.hpp"
#include "osc/server-settings.hpp"
#include "osc/udp-socket.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <time.h>

namespace scs::osc {

/// Decides who is obeyed, by the setting `allow`: programs of the user of this process that are in no sandbox, and
/// root; all programs of the user; or anybody. [osc]
class Admission {
public:
    using Sender = SenderLookup::Sender;
    enum class Answer {
        yes,
        no,    ///< it has been counted and logged
        later, ///< it will be known when the thread in watch_senders() calls `tell`
    };

    /// [main] Fails if the setting asks for what the kernel doesn't tell.
    static Result<Admission> open(const ServerSettings&);

    /// Where refused packets and connections are counted, and who writes to the log. To be called before the others.
    void report_to(std::atomic<uint64_t>& refused, std::function<void(const std::string&)> warn);
    /// Whether watch_senders() is to be run, on a thread of its own, until end_watch(). `tell` is called on it.
    bool needs_watch() const noexcept { return watch_ != nullptr; }
    void watch_senders(const std::function<void()>& tell) { watch_->run(tell); }
    void end_watch() noexcept;

    /// Whether a datagram that was received from the socket `at` is obeyed. The kernel is asked after it has arrived:
    /// one answer also serves further datagrams of that sender if they arrived before the question.
    Answer admits(const UdpSocket::Datagram&, int at);
    /// Who sent the datagram of the last call, if it is yes or later.
    const Sender& sender() const noexcept { return *sender_; }
    /// Whether a datagram of this sender is obeyed, for which the answer was `later`. `late`: then it is no.
    Answer admits(const Sender&, bool late);
    /// Such a datagram isn't kept any longer.
    void give_up(const Sender&) noexcept;
    /// Whether a connection that was accepted is.
    Answer admits(int connection);
    /// Forgets what the kernel has answered.
    void begin_turn() noexcept { ++turn_; }

private:
    /// An answer of the kernel's.
    struct Asked {
        uint64_t turn = 0;
        UdpPeer from;
        timespec when{}; ///< CLOCK_REALTIME
        Sender sender;
    };

    Asked& asked_of(const UdpPeer& from) noexcept { return asked_[(from.port ^ from.port >> 8) % asked_.size()]; }
    Answer ask(Asked&, const UdpPeer& from, int at);
    Answer judge(const Sender&, const char* what) noexcept;
    Answer refuse(const Sender&, const char* what, std::string_view by) noexcept;

    std::optional<SenderLookup> lookup_; ///< none: everybody is obeyed
    std::unique_ptr<HolderWatch> watch_; ///< null: so is every program of the user
    std::atomic<uint64_t>* refused_ = nullptr;
    std::function<void(const std::string&)> warn_;
    LineLimit lines_{3, std::chrono::seconds(10)};

    uint64_t turn_ = 1;
    std::array<Asked, 16> asked_; ///< two senders at the same place cost each other time, nothing else
    const Sender* sender_ = nullptr;
};

} // namespace scs::osc

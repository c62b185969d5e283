// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/admission.hpp"

#include <new>
#include <tuple>
#include <unistd.h>

namespace scs::osc {

namespace {

using Sender = SenderLookup::Sender;

bool before(const timespec& a, const timespec& b) {
    return std::tie(a.tv_sec, a.tv_nsec) < std::tie(b.tv_sec, b.tv_nsec);
}

} // namespace

Result<Admission> Admission::open(const ServerSettings& settings) {
    Admission result;
    if (settings.allow == "any")
        return result;
    auto lookup = SenderLookup::open();
    if (!lookup)
        return Error{lookup.error() + "; without that scsynth.allow must be any, and then every user of this machine "
                                      "commands the server"};
    result.lookup_ = std::move(lookup.value());
    return result;
}

void Admission::report_to(std::atomic<uint64_t>& refused, std::function<void(const std::string&)> warn) {
    refused_ = &refused;
    warn_ = std::move(warn);
}

bool Admission::admits(const UdpSocket::Datagram& datagram, int at) {
    if (!lookup_)
        return true;
    if (!(datagram.from == last_) || !before(datagram.arrived, asked_) || datagram.arrived.tv_sec == 0) {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        answer_ = lookup_->of_datagram(datagram.from, at);
        last_ = datagram.from;
        asked_ = now;
    }
    return obeys(answer_, "an OSC packet");
}

bool Admission::admits(int connection) {
    return !lookup_ || obeys(lookup_->of_connection(connection), "a TCP connection");
}

bool Admission::obeys(const Sender& sender, const char* what) noexcept {
    if (sender.kind == Sender::Kind::obeyed)
        return true;
    refused_->fetch_add(1, std::memory_order_relaxed);
    try {
        const std::string by = sender.kind == Sender::Kind::stranger
                                   ? " of user " + std::to_string(sender.uid)
                                   : " whose sender is gone, or isn't on this machine,";
        if (const auto line = lines_.pass(what + by + " was refused; only user " + std::to_string(::geteuid()) +
                                          " and root are obeyed (scsynth.allow)"))
            warn_(*line);
    } catch (const std::bad_alloc&) {
    }
    return false;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/admission.hpp"

#include <new>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace scs::osc {

namespace {

constexpr char datagrams[] = "an OSC packet", connections[] = "a TCP connection";

bool before(const timespec& a, const timespec& b) {
    return std::tie(a.tv_sec, a.tv_nsec) < std::tie(b.tv_sec, b.tv_nsec);
}

/// Why it can't be found out which process holds a socket; empty: it can.
std::string why_no_holders() {
    const auto socket = UdpSocket::open("127.0.0.1", 0);
    struct stat status;
    if (!socket || ::fstat(socket.value().fd(), &status) != 0)
        return "no socket";
    try {
        return why_not_found("/proc", status.st_ino);
    } catch (const std::exception& error) {
        return error.what();
    }
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
    if (settings.allow == "user")
        return result;
    if (const std::string why = why_no_holders(); !why.empty())
        return Error{
            "/proc doesn't say which program a packet is of (" + why +
            "); without that scsynth.allow must be user, and then programs in sandboxes command the server, too"};
    result.watch_ = std::make_unique<HolderWatch>();
    return result;
}

void Admission::report_to(std::atomic<uint64_t>& refused, std::function<void(const std::string&)> warn) {
    refused_ = &refused;
    warn_ = std::move(warn);
}

void Admission::end_watch() noexcept {
    if (watch_)
        watch_->stop();
}

Admission::Answer Admission::ask(Asked& asked, const UdpPeer& from, int at) {
    asked.turn = 0; // should the memory not last
    if (const auto refused = lookup_->refused(from, at); refused && judge(*refused, datagrams) == Answer::no)
        return Answer::no;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    asked = {turn_, from, now, lookup_->of_datagram(from, at)};
    const Answer answer = judge(asked.sender, datagrams);
    if (answer == Answer::yes)
        lookup_->confirm();
    else if (answer == Answer::no)
        lookup_->remember_refused(from, asked.sender);
    return answer;
}

Admission::Answer Admission::admits(const UdpSocket::Datagram& datagram, int at) {
    if (!lookup_)
        return Answer::yes;
    Asked& asked = asked_of(datagram.from);
    sender_ = &asked.sender;
    if (asked.turn != turn_ || !(asked.from == datagram.from) || !before(datagram.arrived, asked.when) ||
        datagram.arrived.tv_sec == 0)
        return ask(asked, datagram.from, at);
    return judge(asked.sender, datagrams);
}

Admission::Answer Admission::admits(const Sender& sender, bool late) {
    const Answer answer = judge(sender, datagrams);
    if (answer != Answer::later || !late)
        return answer;
    give_up(sender);
    return Answer::no;
}

void Admission::give_up(const Sender& sender) noexcept {
    refuse(sender, datagrams, " of a program of which it isn't known in time whether it is in a sandbox");
}

Admission::Answer Admission::admits(int connection) {
    return lookup_ ? judge(lookup_->of_connection(connection), connections) : Answer::yes;
}

Admission::Answer Admission::judge(const Sender& sender, const char* what) noexcept {
    try {
        if (sender.kind == Sender::Kind::stranger)
            return refuse(sender, what, " of user " + std::to_string(sender.uid));
        if (sender.kind == Sender::Kind::unknown)
            return refuse(sender, what, " whose sender is gone, or isn't on this machine,");
        Answer answer = Answer::yes;
        if (watch_)
            for (const SocketId& socket : sender.own_sockets())
                switch (watch_->ask(socket)) {
                case HolderWatch::Answer::obeyed: break;
                case HolderWatch::Answer::later: answer = Answer::later; break;
                case HolderWatch::Answer::refused: return refuse(sender, what, " of " + watch_->why(socket));
                }
        return answer;
    } catch (const std::bad_alloc&) { // an accepted connection is not to be lost
        refused_->fetch_add(1, std::memory_order_relaxed);
        return Answer::no;
    }
}

Admission::Answer Admission::refuse(const Sender& sender, const char* what, std::string_view by) noexcept {
    refused_->fetch_add(1, std::memory_order_relaxed);
    try {
        const bool own = sender.kind == Sender::Kind::obeyed;
        const std::string who = "user " + std::to_string(::geteuid());
        if (const auto line = lines_.pass(
                std::string(what).append(by) +
                (own ? ", was refused; programs in a sandbox need scsynth.allow = user, or the server's Unix "
                       "socket"
                     : " was refused; only " + who + " and root are obeyed (scsynth.allow)")))
            warn_(*line);
    } catch (const std::bad_alloc&) {
    }
    return Answer::no;
}

} // namespace scs::osc

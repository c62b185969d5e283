// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/link/link.hpp"

#include "cli/link/session.hpp"
#include "cli/top/link.hpp"
#include "cli/top/signals.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>

namespace scs::link {

namespace {

constexpr int longest_rest = 50;   // ms until it looks at the session without an event: of jumps there is none
constexpr double told_again = 0.5; // s; clocks drift, a packet may be lost, the server a new one, or gone
constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};

double seconds(NtpTime time) {
    return double(time) * 0x1p-32;
}

NtpTime to_time(double seconds) {
    return seconds >= 0 && seconds < 0x1p32 ? NtpTime(seconds * 0x1p32) : 0;
}

/// Whether a place says what `before` did, but for the time that has passed.
bool continues(const Place& before, const Place& place) {
    constexpr double drift = 1e-4; // beats
    const double expected = before.beat + ntp_seconds_between(before.time, place.time) * before.tempo;
    return place.tempo == before.tempo && place.playing == before.playing && place.peers == before.peers &&
           std::abs(expected - place.beat) < drift;
}

class Teller {
public:
    Teller(const Options& options, const std::function<std::string()>& elsewhere, Session& session, top::Link& link,
           const top::Signals& signals)
        : options_(options), elsewhere_(elsewhere), session_(session), link_(link), signals_(signals) {}

    Result<bool> run() {
        tell();
        while (!ended_ && !failure_)
            wait();
        if (failure_)
            return std::move(*failure_);
        send({});
        return true;
    }

private:
    void wait() {
        pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {link_.fd(), POLLIN, 0}, {session_.fd(), POLLIN, 0}};
        if (::poll(polled, std::size(polled), longest_rest) < 0 && errno != EINTR)
            return fail(std::string("cannot wait: ") + std::strerror(errno));
        ended_ = signals_.next() != 0;
        if (polled[1].revents && !link_.receive([this](const osc::Message& message) { take(message); }))
            return lose();
        if (!ended_ && !failure_)
            tell();
    }

    void take(const osc::Message& message) {
        osc::ArgReader args(message.args);
        const std::string_view word = args.get_string();
        if (message.name() == "fail" && word == "/link")
            return fail("the server refuses /link: " + std::string(args.get_string()));
        if (message.name() != "link_set")
            return;
        const double value = args.get_double(), quantum = args.get_double();
        const NtpTime from = to_time(args.get_double());
        if (word == "tempo")
            session_.set_tempo(value, from);
        else if (word == "playing")
            session_.set_playing(value != 0, from);
        else if (word == "jump" || word == "force")
            session_.jump(value, quantum, from, word == "force");
    }

    void tell() {
        const Place now = session_.look();
        if (!told_ || now.peers != told_->peers)
            std::printf("%zu other peers, %.2f beats a minute\n", now.peers, now.tempo * 60);
        if (told_ && continues(*told_, now) && ntp_seconds_between(told_->time, now.time) < told_again)
            return;
        told_ = now;
        const std::array<osc::ReplyArg, 6> args{seconds(now.time),    now.beat,           now.tempo,
                                                int32_t(now.playing), seconds(now.since), int32_t(now.peers)};
        send(args);
    }

    void send(std::span<const osc::ReplyArg> args) {
        osc::ReplyComposer composer;
        const auto packet = composer.compose("/link", args);
        if (packet && !link_.send(packet.value()))
            lose();
    }

    void fail(std::string why) { failure_ = Error{std::move(why)}; }
    void lose() {
        fail("no server answers at " + options_.name() + top::how_to_find_server(options_, "link", elsewhere_()));
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    Session& session_;
    top::Link& link_;
    const top::Signals& signals_;
    std::optional<Place> told_;
    std::optional<Error> failure_;
    bool ended_ = false;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    auto link = top::Link::open(options.host, options.port, options.tcp, options.password);
    if (!link)
        return Error{"no server at " + options.name() + " (" + link.error() + ")" +
                     top::how_to_find_server(options, "link", elsewhere())};
    const top::Signals signals(ending); // before there are threads of Link's, which must not take them
    const auto session = Session::join(options.tempo);
    if (!session)
        return Error{session.error()};
    return Teller(options, elsewhere, *session.value(), link.value(), signals).run();
}

} // namespace scs::link

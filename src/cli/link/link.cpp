// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/link/link.hpp"

#include "cli/link/session.hpp"
#include "cli/top/companion.hpp"
#include "osc/arg-reader.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace scs::link {

namespace {

constexpr int longest_rest = 50;   // ms until it looks at the session without an event: of jumps there is none
constexpr double told_again = 0.5; // s; clocks drift, a packet may be lost, the server a new one, or gone

/// Whether a place says what `before` did, but for the time that has passed.
bool continues(const Place& before, const Place& place) {
    constexpr double drift = 1e-4; // beats
    const double expected = before.beat + ntp_seconds_between(before.time, place.time) * before.tempo;
    return place.tempo == before.tempo && place.playing == before.playing && std::abs(expected - place.beat) < drift;
}

class Teller {
public:
    Teller(Session& session, top::Companion& server) : session_(session), server_(server) {}

    Result<bool> run() {
        tell();
        while (!server_.over()) {
            server_.wait(session_.fd(), longest_rest, [this](const osc::Message& message) { take(message); });
            if (!server_.over())
                tell();
        }
        return server_.end([this] { server_.send("/link", {}); });
    }

private:
    void take(const osc::Message& message) {
        if (server_.fail_if_refused(message, "/link") || message.name() != "link_set")
            return;
        osc::ArgReader args(message.args);
        const std::string_view word = args.get_string();
        const double value = args.get_double(), quantum = args.get_double();
        const NtpTime from = ntp_from_seconds(args.get_double());
        if (word == "tempo")
            session_.set_tempo(value, from);
        else if (word == "playing")
            session_.set_playing(value != 0, from);
        else if (word == "jump" || word == "force")
            session_.jump(value, quantum, from, word == "force");
    }

    void tell() {
        const Place now = session_.look();
        if (std::exchange(peers_, now.peers) != now.peers)
            std::printf("%zu other %s, %.2f beats a minute\n", now.peers, now.peers == 1 ? "peer" : "peers",
                        now.tempo * 60);
        if (told_ && continues(*told_, now) && ntp_seconds_between(told_->time, now.time) < told_again)
            return;
        told_ = now;
        server_.send("/link", std::array<osc::ReplyArg, 5>{ntp_seconds(now.time), now.beat, now.tempo,
                                                           int32_t(now.playing), ntp_seconds(now.since)});
    }

    Session& session_;
    top::Companion& server_;
    std::optional<Place> told_;
    std::optional<size_t> peers_; ///< as printed last
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    const auto server = top::Companion::open(options, "link", elsewhere);
    if (!server)
        return Error{server.error()};
    if (!server.value()->answers())
        return server.value()->end();
    const auto session = Session::join(options.tempo);
    if (!session)
        return Error{session.error()};
    return Teller(*session.value(), *server.value()).run();
}

} // namespace scs::link

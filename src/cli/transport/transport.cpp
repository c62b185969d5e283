// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/transport/transport.hpp"

#include "cli/top/link.hpp"
#include "cli/top/signals.hpp"
#include "cli/transport/jack.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>

namespace scs::transport {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds asked_again(20);
constexpr milliseconds patience(3000); // with a server that doesn't answer
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

class Driver {
public:
    Driver(const Options& options, const std::function<std::string()>& elsewhere, Jack& jack, top::Link& link)
        : options_(options), elsewhere_(elsewhere), jack_(jack), link_(link) {}

    Result<bool> run() {
        while (!ended_ && !failure_) {
            ask();
            if (!failure_)
                wait();
        }
        if (failure_)
            return std::move(*failure_);
        return true;
    }

private:
    void ask() {
        const auto now = Clock::now();
        if (now - answered_ > patience)
            return lose();
        if (now - asked_ < asked_again)
            return;
        asked_ = now;
        osc::ReplyComposer composer;
        const auto packet = composer.compose("/transport_next", {});
        if (packet && !link_.send(packet.value()))
            lose();
    }

    void wait() {
        pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {link_.fd(), POLLIN, 0}};
        if (::poll(polled, std::size(polled), int(asked_again.count())) < 0 && errno != EINTR)
            return fail(std::string("cannot wait: ") + std::strerror(errno));
        ended_ = signals_.next() != 0;
        if (polled[1].revents && !link_.receive([this](const osc::Message& message) { take(message); }))
            return lose();
        if (jack_.gone())
            fail("PipeWire has ended");
    }

    void take(const osc::Message& message) {
        osc::ArgReader args(message.args);
        if (message.name() == "fail" && args.get_string() == "/transport_next")
            return fail("the server refuses /transport_next: " + std::string(args.get_string()));
        if (message.name() != "transport_next.reply")
            return;
        answered_ = Clock::now();
        while (args.at_string()) {
            const std::string_view word = args.get_string();
            obey(word, args.get_double());
        }
    }

    void obey(std::string_view word, double value) {
        if (word == "start")
            jack_.start();
        else if (word == "stop")
            jack_.stop();
        else if (word == "tempo")
            jack_.set_tempo(value);
        else if (word == "locate" && !jack_.locate(value))
            std::fprintf(stderr, "pw-scsynth: transport: beat %g is too far away\n", value);
    }

    void fail(std::string why) { failure_ = Error{std::move(why)}; }
    void lose() {
        fail("no server answers at " + options_.name() + top::how_to_find_server(options_, "transport", elsewhere_()));
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    Jack& jack_;
    top::Link& link_;
    const top::Signals signals_{signals};
    Clock::time_point asked_{}, answered_ = Clock::now();
    std::optional<Error> failure_;
    bool ended_ = false;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    auto link = top::Link::open(options.host, options.port, options.tcp, options.password);
    if (!link)
        return Error{"no server at " + options.name() + " (" + link.error() + ")" +
                     top::how_to_find_server(options, "transport", elsewhere())};
    const auto jack = Jack::open(options.tempo, options.beats_per_bar);
    if (!jack)
        return Error{jack.error()};
    return Driver(options, elsewhere, *jack.value(), link.value()).run();
}

} // namespace scs::transport

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/transport/transport.hpp"

#include "cli/top/companion.hpp"
#include "cli/transport/jack.hpp"
#include "osc/arg-reader.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

namespace scs::transport {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds asked_again(20);
constexpr milliseconds patience(3000); // with a server that doesn't answer

class Driver {
public:
    Driver(Jack& jack, top::Companion& server) : jack_(jack), server_(server) {}

    Result<bool> run() {
        while (!server_.over()) {
            ask();
            if (!server_.over())
                server_.wait(-1, int(asked_again.count()), [this](const osc::Message& message) { take(message); });
            if (jack_.gone())
                server_.fail("PipeWire has ended");
        }
        return server_.end([this] { next("end"); });
    }

private:
    void ask() {
        const auto now = Clock::now();
        if (now - answered_ > patience)
            return server_.lose();
        if (now - asked_ < asked_again)
            return;
        asked_ = now;
        if (std::exchange(begins_, false))
            next("begin");
        else
            server_.send("/transport_next", {});
    }

    void next(std::string_view word) { server_.send("/transport_next", std::array<osc::ReplyArg, 1>{word}); }

    void take(const osc::Message& message) {
        if (server_.fail_if_refused(message, "/transport_next") || message.name() != "transport_next.reply")
            return;
        answered_ = Clock::now();
        if (!std::exchange(said_, true)) {
            std::puts("it drives the transport");
            std::fflush(stdout);
        }
        osc::ArgReader args(message.args);
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

    Jack& jack_;
    top::Companion& server_;
    Clock::time_point asked_{}, answered_ = Clock::now();
    bool begins_ = true, said_ = false;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    const auto server = top::Companion::open(options, "transport", elsewhere);
    if (!server)
        return Error{server.error()};
    const auto jack = Jack::open(options.tempo, options.beats_per_bar);
    if (!jack)
        return Error{jack.error()};
    return Driver(*jack.value(), *server.value()).run();
}

} // namespace scs::transport

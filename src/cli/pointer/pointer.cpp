// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/pointer.hpp"

#include "cli/pointer/display.hpp"
#include "cli/top/link.hpp"
#include "cli/top/signals.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <utility>

namespace scs::pointer {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_pause(5); // between two messages
constexpr milliseconds longest_rest(500); // until it looks without an event: a program may set the pointer
constexpr milliseconds told_again(2000);  // a packet may be lost, the server a new one, or gone
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

class Teller {
public:
    Teller(const Options& options, const std::function<std::string()>& elsewhere, Display& display, top::Link& link)
        : options_(options), elsewhere_(elsewhere), display_(display), link_(link) {}

    Result<bool> run() {
        tell();
        while (!ended_ && !failure_)
            wait();
        if (failure_)
            return std::move(*failure_);
        return true;
    }

private:
    void wait() {
        pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {link_.fd(), POLLIN, 0}, {display_.fd(), POLLIN, 0}};
        const milliseconds rest = display_.came_meanwhile() ? milliseconds(0) : longest_rest;
        if (::poll(polled, std::size(polled), int(rest.count())) < 0 && errno != EINTR)
            return fail(std::string("cannot wait: ") + std::strerror(errno));
        ended_ = signals_.next() != 0;
        if (polled[1].revents && !link_.receive([this](const osc::Message& message) { take(message); }))
            return lose();
        if (!ended_ && !failure_)
            tell();
    }

    void take(const osc::Message& message) {
        osc::ArgReader args(message.args);
        if (message.name() == "fail" && args.get_string() == "/pointer")
            fail("the server refuses /pointer: " + std::string(args.get_string()));
    }

    void tell() {
        if (!display_.read())
            return fail("the X display is gone");
        const auto now = display_.look();
        const auto time = std::chrono::steady_clock::now();
        if (!now || (told_ && *told_ == *now && time - told_at_ < told_again))
            return;
        told_ = now;
        told_at_ = time;
        osc::ReplyComposer composer;
        const std::array<osc::ReplyArg, 3> place{now->x, now->y, int32_t(now->pressed)};
        const auto packet = composer.compose("/pointer", place);
        if (packet && !link_.send(packet.value()))
            return lose();
        std::this_thread::sleep_for(shortest_pause);
    }

    void fail(std::string why) { failure_ = Error{std::move(why)}; }
    void lose() {
        fail("no server answers at " + options_.name() + top::how_to_find_server(options_, "pointer", elsewhere_()));
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    Display& display_;
    top::Link& link_;
    const top::Signals signals_{signals};
    std::optional<Pointer> told_;
    std::chrono::steady_clock::time_point told_at_;
    std::optional<Error> failure_;
    bool ended_ = false;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    const auto display = Display::open();
    if (!display)
        return Error{display.error() + "; MouseX, MouseY and MouseButton give their minimum"};
    auto link = top::Link::open(options.host, options.port, options.tcp, options.password);
    if (!link)
        return Error{"no server at " + options.name() + " (" + link.error() + ")" +
                     top::how_to_find_server(options, "pointer", elsewhere())};
    return Teller(options, elsewhere, *display.value(), link.value()).run();
}

} // namespace scs::pointer

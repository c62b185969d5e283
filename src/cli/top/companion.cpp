// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/companion.hpp"

#include "cli/top/refusal.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <poll.h>
#include <string>
#include <utility>

namespace scs::top {

Result<std::unique_ptr<Companion>> Companion::open(const ServerOptions& options, const char* command,
                                                   const Others& others) {
    auto link = Link::open(options.host, options.port, options.tcp, options.password);
    if (!link)
        return Error{"no server at " + options.name() + " (" + link.error() + ")" +
                     how_to_find_server(options, command, others())};
    return std::unique_ptr<Companion>(new Companion(options, command, others, std::move(link.value())));
}

void Companion::send(const char* address, std::span<const osc::ReplyArg> args) {
    osc::ReplyComposer composer;
    const auto packet = composer.compose(address, args);
    if (packet && !link_.send(packet.value()))
        lose();
}

Result<bool> Companion::end(const std::function<void()>& farewell) {
    if (failure_)
        return *failure_;
    if (farewell) {
        farewell(); // the server refuses what comes from a socket that is gone
        (void)sync();
    }
    return true;
}

/// Waits until the server has read what was sent, for a second at most.
bool Companion::sync() {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::seconds(1);
    send("/sync", std::array<osc::ReplyArg, 1>{int32_t(0)});
    pollfd polled{link_.fd(), POLLIN, 0};
    bool synced = false;
    while (!failure_ && !synced && Clock::now() < until)
        if (::poll(&polled, 1, 50) > 0 &&
            !link_.receive([&](const osc::Message& message) { synced |= message.name() == "synced"; }))
            lose();
    return synced;
}

bool Companion::answers() {
    if (!sync() && !failure_)
        lose();
    return !failure_;
}

void Companion::wait(int fd, int longest, const std::function<void(const osc::Message&)>& take) {
    pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {link_.fd(), POLLIN, 0}, {fd, POLLIN, 0}};
    if (::poll(polled, std::size(polled), std::max(longest, 0)) < 0 && errno != EINTR)
        return fail(std::string("cannot wait: ") + std::strerror(errno));
    ended_ = signals_.next() != 0;
    if (polled[1].revents && !link_.receive(take))
        lose();
}

bool Companion::fail_if_refused(const osc::Message& message, const char* address) {
    osc::ArgReader args(message.args);
    if (message.name() != "fail" || args.get_string() != address)
        return false;
    fail(refusal(address, args.get_string()));
    return true;
}

void Companion::lose() {
    fail("no server answers at " + options_.name() + how_to_find_server(options_, command_, others_()));
}

} // namespace scs::top

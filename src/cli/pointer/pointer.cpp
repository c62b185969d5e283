// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/pointer.hpp"

#include "cli/pointer/display.hpp"
#include "cli/top/companion.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace scs::pointer {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_pause(5); // between two messages
constexpr milliseconds longest_rest(500); // until it looks without an event: a program may set the pointer
constexpr milliseconds told_again(2000);  // a packet may be lost, the server a new one, or gone

class Teller {
public:
    Teller(Display& display, bool keys, top::Companion& server) : display_(display), keys_(keys), server_(server) {}

    Result<bool> run() {
        tell();
        while (!server_.over()) {
            const milliseconds rest = display_.came_meanwhile() ? milliseconds(0) : longest_rest;
            server_.wait(display_.fd(), int(rest.count()),
                         [this](const osc::Message& message) { server_.fail_if_refused(message, "/pointer"); });
            if (!server_.over())
                tell();
        }
        return server_.end([this] { release_keys(); });
    }

private:
    void tell() {
        if (!display_.read())
            return server_.fail("the X display is gone");
        const auto now = display_.look();
        const auto time = std::chrono::steady_clock::now();
        if (!now || (told_ && *told_ == *now && time - told_at_ < told_again))
            return;
        told_ = now;
        told_at_ = time;
        send(*now);
        std::this_thread::sleep_for(shortest_pause);
    }

    void send(const Pointer& now) {
        const std::array<osc::ReplyArg, 4> all{now.x, now.y, int32_t(now.pressed), std::as_bytes(std::span(now.keys))};
        server_.send("/pointer", std::span(all).first(keys_ ? 4 : 3));
    }

    /// Nothing stays down when nobody tells of it any more.
    void release_keys() {
        if (!keys_ || !told_)
            return;
        told_->keys = {};
        send(*told_);
    }

    Display& display_;
    const bool keys_;
    top::Companion& server_;
    std::optional<Pointer> told_;
    std::chrono::steady_clock::time_point told_at_;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    const auto display = Display::open(options.keys);
    if (!display)
        return Error{display.error() + "; MouseX, MouseY and MouseButton give their minimum"};
    const auto server = top::Companion::open(options, "pointer", elsewhere);
    if (!server)
        return Error{server.error()};
    return Teller(*display.value(), options.keys, *server.value()).run();
}

} // namespace scs::pointer

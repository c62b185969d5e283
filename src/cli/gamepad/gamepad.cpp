// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/gamepad.hpp"

#include "cli/gamepad/devices.hpp"
#include "cli/top/companion.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

namespace scs::gamepad {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_pause(2); // between two readings: an axis may move a thousand times a second
constexpr milliseconds asked_again(2000); // whether the server is there

class Teller {
public:
    Teller(Devices& devices, top::Companion& server) : devices_(devices), server_(server) {}

    Result<bool> run() {
        tell(devices_.read());
        say_missing();
        while (!server_.over()) {
            ask();
            server_.wait(devices_.fd(), int(asked_again.count()),
                         [this](const osc::Message& message) { server_.fail_if_refused(message, "/hid"); });
            if (!server_.over())
                tell(devices_.read());
        }
        return server_.end([this] { tell(devices_.release()); });
    }

private:
    /// Where an axis has moved several times only the last place is told.
    void tell(News news) {
        for (const std::string& line : news.lines)
            say(line);
        if (news.moves.empty())
            return;
        std::vector<News::Told> told;
        for (const News::Told& each : news.moves) {
            const auto same = [&](const News::Told& other) {
                return other.device == each.device && other.move.axis && each.move.axis &&
                       other.move.code == each.move.code;
            };
            const auto before = std::find_if(told.begin(), told.end(), same);
            if (before != told.end())
                before->move.value = each.move.value;
            else
                told.push_back(each);
        }
        for (const auto& [device, move] : told)
            server_.send("/hid",
                         std::array<osc::ReplyArg, 4>{int32_t(device), std::string_view(move.axis ? "axis" : "button"),
                                                      int32_t(move.code), move.value});
        std::this_thread::sleep_for(shortest_pause);
    }

    /// Without a word for it nobody would notice that the server is gone.
    void ask() {
        const auto now = std::chrono::steady_clock::now();
        if (now - asked_at_ < asked_again)
            return;
        asked_at_ = now;
        server_.send("/status", {});
    }

    void say_missing() {
        if (const std::string why = devices_.missing(); !why.empty())
            say(why);
    }

    static void say(const std::string& line) {
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
    }

    Devices& devices_;
    top::Companion& server_;
    std::chrono::steady_clock::time_point asked_at_{};
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    const auto devices = Devices::open(options.devices);
    if (!devices)
        return Error{devices.error()};
    const auto server = top::Companion::open(options, "gamepad", elsewhere);
    if (!server)
        return Error{server.error()};
    return Teller(*devices.value(), *server.value()).run();
}

} // namespace scs::gamepad

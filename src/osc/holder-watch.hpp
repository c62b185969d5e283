// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/socket-holders.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace scs::osc {

/// Remembers whether sockets are held by programs of the user alone that are in no sandbox, and has a thread of its own
/// find it out: that takes far longer than a packet. An answer is of one socket, which the kernel's cookie tells from
/// all others, so that no other one gets it by taking its port. As a program may hand its descriptor on, what is in use
/// is looked at again every second, or every 200 times as long as that takes; what hasn't been for 10 s, before it is
/// obeyed again. Looking takes a fifth of a processor at most, beside two seconds that are saved up while nothing is
/// asked: sandboxes can make as many sockets as they like. What is obeyed is forgotten last.
class HolderWatch {
public:
    using Clock = std::chrono::steady_clock;
    enum class Answer { obeyed, refused, later };

    static constexpr size_t most_known = 1024;
    static constexpr std::chrono::seconds interval{1}, lifetime{10};

    /// `proc`: where /proc is.
    explicit HolderWatch(std::string proc = "/proc");

    /// [osc] later: it will be known when `tell` of run() is called.
    Answer ask(const SocketId&, Clock::time_point now = Clock::now());
    /// [osc] Why this socket is refused.
    std::string why(const SocketId&) const;

    /// Answers what is asked, on a thread of its own, until stop(). `tell` is called when there are answers.
    void run(const std::function<void()>& tell);
    /// [any]
    void stop();

    /// How often it has looked, and how long that took together. [any]
    std::pair<uint64_t, Clock::duration> effort() const;

private:
    struct Known {
        SocketId socket;
        bool asked = true;     ///< to be looked at (again)
        bool answered = false; ///< by `holders`
        Holders holders;
        Clock::time_point looked{}, used{};
    };

    Known& entry(const SocketId&, Clock::time_point now);
    std::vector<SocketId> asked() const;
    /// Waits until something is asked and it is time to look. False: stopped.
    bool wait(std::unique_lock<std::mutex>&);
    bool look(std::unique_lock<std::mutex>&);

    const std::string proc_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    std::map<uint64_t, Known> known_; ///< by cookie
    Clock::time_point not_before_{};
    Clock::time_point looked_{};          ///< the end of the last look
    Clock::duration saved_{};             ///< of the time that looking may take
    Clock::duration took_{}, all_took_{}; ///< the last look; all of them
    uint64_t looks_ = 0;
};

} // namespace scs::osc

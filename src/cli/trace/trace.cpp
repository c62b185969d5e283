// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/trace.hpp"

#include "cli/top/link.hpp"
#include "cli/top/signals.hpp"
#include "cli/trace/chrome.hpp"
#include "cli/trace/output-file.hpp"
#include "cli/trace/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace scs::trace {

namespace {

using Clock = std::chrono::steady_clock;
using Moment = Clock::time_point;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds answer_time(500); // then it is asked again
constexpr int most_tries = 4;
constexpr milliseconds reading_interval(10); // while the server has no more to tell
constexpr milliseconds progress_interval(200);
constexpr int receive_bytes = 1 << 20; // of the socket's buffer, as far as the system allows
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

class Tracer {
public:
    Tracer(const Options& options, const std::function<std::string()>& elsewhere)
        : options_(options), elsewhere_(elsewhere), shows_progress_(::isatty(STDERR_FILENO) == 1) {}

    Result<Log> run() {
        auto opened = top::Link::open(options_.host, options_.port, options_.tcp, options_.password);
        if (!opened)
            return Error{"no server at " + options_.name() + " (" + opened.error() + ")" + how_to_find_one()};
        link_ = std::move(opened.value());
        ::setsockopt(link_->fd(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
        send(Recording::start());
        while (!done_ && !failure_)
            wait();
        if (shows_progress_ && started_)
            std::fputs("\r\x1b[K", stderr);
        if (failure_)
            return std::move(*failure_);
        return std::move(recording_.log());
    }

private:
    void wait() {
        pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {link_->fd(), POLLIN, 0}};
        const auto time = std::chrono::ceil<milliseconds>(due_ - Clock::now());
        const int ready = ::poll(polled, std::size(polled), int(std::max(time, milliseconds(0)).count()));
        if (ready < 0 && errno != EINTR) {
            failure_ = Error{std::string("cannot wait: ") + std::strerror(errno)};
            return;
        }
        if (ready > 0 && polled[0].revents)
            take_signals();
        if (ready > 0 && polled[1].revents)
            receive();
        if (!done_ && !failure_ && Clock::now() >= due_)
            go_on();
    }

    void take_signals() {
        while (signals_.next())
            ends_ = Clock::now();
        if (!started_)
            failure_ = Error{"ended before the recording began"};
    }

    void receive() {
        const bool there = link_->receive([this](const osc::Message& message) {
            if (!done_ && !failure_)
                take(message);
        });
        if (!there)
            lose();
    }

    void take(const osc::Message& message) {
        switch (recording_.take(message)) {
        case Recording::Step::ignored: return;
        case Recording::Step::started:
            started_ = Clock::now();
            if (!ends_)
                ends_ = *started_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.seconds));
            asked_ = 0;
            break;
        case Recording::Step::page: asked_ = std::max(asked_ - 1, 0); break;
        case Recording::Step::done: done_ = true; return;
        case Recording::Step::failed: failure_ = Error{options_.name() + ": " + recording_.failure()}; return;
        }
        tries_ = 0;
        show_progress();
        if (recording_.idle() && asked_ == 0)
            due_ = std::min(Clock::now() + reading_interval, std::max(*ends_, Clock::now()));
        else
            ask();
    }

    /// Nothing has come for a while, or all is read and it is time to look for more.
    void go_on() {
        const bool silent = asked_ > 0;
        asked_ = 0;
        if (silent && ++tries_ == most_tries)
            lose();
        else if (!started_)
            send(Recording::start());
        else
            ask();
    }

    void ask() {
        if (Clock::now() >= *ends_ && recording_.on())
            send(recording_.stop());
        for (int more = recording_.pages_wanted() - asked_; more > 0; --more)
            send(recording_.read());
    }

    /// Each packet but the one that stops is answered.
    void send(const Recording::Packet& packet) {
        asked_ += packet != recording_.stop();
        due_ = Clock::now() + answer_time;
        if (!link_->send(packet))
            lose();
    }

    void lose() {
        if (!done_ && !failure_)
            failure_ = Error{"no server answers at " + options_.name() +
                             (started_ ? " any more; nothing was written" : how_to_find_one())};
    }

    std::string how_to_find_one() const { return top::how_to_find_server(options_, "trace", elsewhere_()); }

    void show_progress() {
        if (!shows_progress_ || Clock::now() < shown_ + progress_interval)
            return;
        shown_ = Clock::now();
        std::fprintf(stderr, "\rrecording %s: %.1f of %g s, %zu events\x1b[K", options_.name().c_str(),
                     std::min(Seconds(shown_ - *started_).count(), options_.seconds), options_.seconds,
                     recording_.log().events.size());
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    const bool shows_progress_;
    const top::Signals signals_{signals};
    std::optional<top::Link> link_;
    Recording recording_;
    std::optional<Moment> started_, ends_;
    Moment due_{}, shown_{};
    int asked_ = 0; ///< packets that aren't answered yet
    int tries_ = 0;
    bool done_ = false;
    std::optional<Error> failure_;
};

std::string plural(int64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "trace.json: 2 threads, 750 cycles, 120000 events of 1.00 s; …"
std::string what_is_in_it(const Log& log, const std::string& file) {
    int64_t cycles = 0, last = 0;
    for (const Event& event : log.events) {
        cycles += event.kind == Kind::cycle;
        last = std::max(last, event.began + event.nsec);
    }
    char time[32];
    std::snprintf(time, sizeof time, "%.2f s", double(last) * 1e-9);
    std::string text = file + ": " + plural(log.threads, "thread") + ", " + plural(cycles, "cycle") + ", " +
                       plural(int64_t(log.events.size()), "event") + " in " + time;
    if (log.dropped)
        text += "; " + plural(log.dropped, "more event") + " found no room";
    if (log.lost_pages)
        text += "; " + plural(log.lost_pages, "page") + " got lost, by TCP (-t) none does";
    if (!cycles)
        text += "; nothing ran, is the server linked to something that plays?";
    return text + "; open it in https://ui.perfetto.dev or chrome://tracing";
}

} // namespace

Result<std::string> run(const Options& options, const std::function<std::string()>& elsewhere) {
    auto file = OutputFile::open(options.file);
    if (!file)
        return Error{file.error()};
    auto log = Tracer(options, elsewhere).run();
    if (!log)
        return Error{log.error()};
    const auto write = [&](std::string_view text) { return file.value().write(text); };
    if (!write_chrome_trace(log.value(), options.name(), write) || !file.value().finish())
        return Error{"cannot write " + options.file + ": " + std::strerror(errno)};
    return what_is_in_it(log.value(), options.file);
}

} // namespace scs::trace

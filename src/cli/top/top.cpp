// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/top.hpp"

#include "cli/top/json.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/model.hpp"
#include "cli/top/overview.hpp"
#include "cli/top/screen.hpp"
#include "cli/top/signals.hpp"
#include "cli/top/terminal.hpp"
#include "cli/top/watch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace scs::top {

namespace {

using std::chrono::milliseconds;

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};

/// A server, and what is known of it.
struct Seen {
    Seen(std::string name, ServerOptions server, double seconds)
        : name(std::move(name)), watch(std::move(server), seconds) {}

    std::string name;
    Watch watch;
    std::optional<Model> model; ///< that is shown
    std::string trouble;
};

class Top {
public:
    Top(const Options& options, std::vector<Seen> servers, const std::function<std::string()>& elsewhere)
        : options_(options), elsewhere_(elsewhere), view_(options.view), servers_(std::move(servers)) {}

    Result<bool> run() {
        if (!options_.once && !options_.json) {
            auto opened = Terminal::open();
            if (!opened)
                return Error{opened.error()};
            terminal_ = std::move(opened.value());
        }
        draw();
        while (!ended_ && !failure_)
            wait();
        terminal_.reset();
        if (failure_)
            return std::move(*failure_);
        return true;
    }

private:
    bool are_several() const { return servers_.size() > 1; }

    void wait() {
        std::vector<pollfd> polled = {{signals_.fd(), POLLIN, 0}, {terminal_ ? STDIN_FILENO : -1, POLLIN, 0}};
        auto due = Watch::Clock::time_point::max();
        for (const Seen& server : servers_) {
            polled.push_back({is_done(server) ? -1 : server.watch.fd(), server.watch.events(), 0});
            due = std::min(due, is_done(server) ? due : server.watch.due());
        }
        const auto time = std::chrono::ceil<milliseconds>(due - Watch::Clock::now());
        const int ready = ::poll(polled.data(), polled.size(), int(std::max(time, milliseconds(0)).count()));
        if (ready < 0 && errno != EINTR) {
            failure_ = Error{std::string("cannot wait: ") + std::strerror(errno)};
            return;
        }
        if (ready > 0 && polled[0].revents)
            take_signals();
        if (ready > 0 && polled[1].revents & POLLIN)
            take_keys();
        else if (ready > 0 && polled[1].revents)
            ended_ = true; // the terminal is gone
        for (size_t i = 0; i < servers_.size(); ++i) {
            Watch& watch = servers_[i].watch;
            if (ready > 0 && polled[i + 2].revents && !over())
                take(servers_[i], watch.receive());
            if (!over() && !is_done(servers_[i]) && Watch::Clock::now() >= watch.due())
                take(servers_[i], watch.go_on());
        }
    }

    bool over() const { return ended_ || failure_; }

    // ---- the servers

    /// With --once each is asked for one sample only.
    bool is_done(const Seen& server) const { return options_.once && (server.model || !server.trouble.empty()); }

    void take(Seen& server, Watch::News news) {
        switch (news) {
        case Watch::News::none: break;
        case Watch::News::sample: take_sample(server); break;
        case Watch::News::lost: lose(server); break;
        case Watch::News::refused:
            if (!server.model && !are_several())
                failure_ = Error{server.name + ": " + server.watch.why()};
            else
                lose(server);
            break;
        }
    }

    void take_sample(Seen& server) {
        if (!server.trouble.empty() && !terminal_)
            say(server.name + " answers");
        server.trouble.clear();
        if (!view_.held || !server.model)
            server.model = make_model(server.watch.sample());
        if (options_.json)
            print(to_json(*server.model, server.watch.server().host, server.watch.server().port) + "\n");
        else
            show();
        end_once();
    }

    /// There is no server, or none any more. If it is the only one, that is the end at the beginning.
    void lose(Seen& server) {
        if (!server.model && !are_several()) {
            failure_ = Error{server.watch.why() + how_to_find_server(server.watch.server(), "top", elsewhere_())};
            return;
        }
        const bool news = server.trouble.empty();
        server.trouble = server.watch.why() + (are_several() ? "" : "; trying again, q: quit");
        if (terminal_)
            draw();
        else if (news && (options_.json || !are_several()))
            say(server.watch.why() + (options_.once ? "" : "; trying again"));
        end_once();
    }

    /// With --once all is said when something is known of each.
    void end_once() {
        if (!options_.once || failure_)
            return;
        if (!std::all_of(servers_.begin(), servers_.end(), [&](const Seen& server) { return is_done(server); }))
            return;
        if (std::none_of(servers_.begin(), servers_.end(), [](const Seen& server) { return server.model.has_value(); }))
            fail_of_all();
        else if (are_several() && !options_.json)
            print(plain_text(rows(), view_));
        ended_ = true;
    }

    /// None of several servers answers.
    void fail_of_all() {
        const auto remote = std::find_if(servers_.begin(), servers_.end(),
                                         [](const Seen& server) { return server.watch.server().is_remote(); });
        const Seen& told = remote == servers_.end() ? servers_.front() : *remote;
        failure_ = Error{"none of the servers answers: " + told.watch.why() + ", and so on" +
                         how_to_find_server(told.watch.server(), "top", elsewhere_())};
    }

    void show() {
        if (terminal_)
            draw();
        else if (!are_several())
            print(plain_text(scene(), view_));
    }

    void print(const std::string& text) { write(STDOUT_FILENO, text); }
    void say(const std::string& line) { write(STDERR_FILENO, "pw-scsynth: " + line + "\n"); }

    /// Where nobody reads, a signal still ends the program, so it waits for both. A pipe that has room takes PIPE_BUF
    /// bytes without waiting for more.
    void write(int fd, std::string_view text) {
        while (!text.empty() && !over()) {
            pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {fd, POLLOUT, 0}};
            if (::poll(polled, std::size(polled), -1) < 0)
                fail_to_write();
            if (polled[0].revents)
                take_signals();
            if (!polled[1].revents || over())
                continue;
            const ssize_t written = ::write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
            if (written < 0)
                fail_to_write();
            else
                text.remove_prefix(size_t(written));
        }
    }

    void fail_to_write() {
        if (errno != EINTR && errno != EAGAIN)
            failure_ = Error{std::string("cannot write: ") + std::strerror(errno)};
    }

    // ---- the user

    void take_signals() {
        while (const int number = signals_.next()) {
            if (number == SIGWINCH)
                resize();
            else if (number == SIGTSTP)
                stop();
            else
                ended_ = true;
        }
    }

    void stop() {
        if (terminal_)
            terminal_->give_back();
        ::raise(SIGSTOP);
        if (terminal_)
            terminal_->take();
        draw();
    }

    void resize() {
        if (terminal_)
            terminal_->adapt();
        draw();
    }

    void take_keys() {
        const bool held = view_.held;
        bool any = false;
        while (const auto key = terminal_->read()) {
            any = true;
            if (!press(*key, view_, extent())) {
                ended_ = true;
                return;
            }
        }
        if (held && !view_.held)
            for (Seen& server : servers_)
                server.watch.hurry();
        if (any)
            draw();
    }

    Extent extent() const {
        Extent found;
        if (are_several()) {
            found.rows = server_rows(rows(), view_);
            found.page = server_room(terminal_->size());
            return found;
        }
        if (const auto& model = servers_.front().model) {
            found.rows = int(make_rows(*model, view_).size());
            for (const GroupLine& group : model->groups)
                found.deepest = std::max(found.deepest, group.depth);
        }
        found.page = tree_rows(terminal_->size());
        return found;
    }

    Scene scene() const {
        const Seen& server = servers_.front();
        return {server.name, server.model ? &*server.model : nullptr, server.trouble};
    }

    std::vector<ServerRow> rows() const {
        std::vector<ServerRow> found;
        for (const Seen& server : servers_)
            found.push_back({server.name, server.model ? &*server.model : nullptr, server.trouble});
        return found;
    }

    void draw() {
        if (terminal_ && !over())
            terminal_->show(are_several() ? top::draw(rows(), view_, terminal_->size())
                                          : top::draw(scene(), view_, terminal_->size()));
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    const Signals signals_{signals};
    View view_;
    std::vector<Seen> servers_;          ///< never empty
    std::unique_ptr<Terminal> terminal_; ///< none: nothing is drawn
    bool ended_ = false;
    std::optional<Error> failure_;
};

/// The servers that are asked for, by the addresses of their names.
Result<std::vector<Seen>> servers_of(const Options& options) {
    std::vector<Seen> servers;
    for (const HostName& host : options.hosts) {
        const auto address = address_of(host.host);
        if (!address)
            return Error{address.error()};
        ServerOptions server = options;
        server.host = address.value();
        server.port = host.port;
        servers.emplace_back(host.text(), std::move(server), options.seconds);
    }
    if (servers.empty())
        servers.emplace_back(options.name(), options, options.seconds);
    return servers;
}

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    if (!options.once && !options.json && !Terminal::there())
        return Error{"top: this is no terminal; --once prints one sample, --json prints them as JSON"};
    auto servers = servers_of(options);
    if (!servers)
        return Error{servers.error()};
    return Top(options, std::move(servers.value()), elsewhere).run();
}

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/top.hpp"

#include "cli/top/json.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/link.hpp"
#include "cli/top/model.hpp"
#include "cli/top/query.hpp"
#include "cli/top/screen.hpp"
#include "cli/top/signals.hpp"
#include "cli/top/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace scs::top {

namespace {

using Clock = std::chrono::steady_clock;
using Moment = Clock::time_point;
using std::chrono::milliseconds;

constexpr milliseconds answer_time(500); // then it is asked again
constexpr int most_tries = 4;
constexpr milliseconds retry_time(1000); // between two attempts to find a server that is gone
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};

class Top {
public:
    Top(const Options& options, const std::function<std::string()>& elsewhere)
        : options_(options), elsewhere_(elsewhere), server_(options.name()), view_(options.view) {}

    Result<bool> run() {
        if (!options_.once && !options_.json) {
            auto opened = Terminal::open();
            if (!opened)
                return Error{opened.error()};
            terminal_ = std::move(opened.value());
        }
        ask();
        draw();
        while (!ended_ && !failure_)
            wait();
        terminal_.reset();
        if (failure_)
            return std::move(*failure_);
        return true;
    }

private:
    void wait() {
        pollfd polled[] = {{signals_.fd(), POLLIN, 0},
                           {link_ ? link_->fd() : -1, POLLIN, 0},
                           {terminal_ ? STDIN_FILENO : -1, POLLIN, 0}};
        const auto time = std::chrono::ceil<milliseconds>(due_ - Clock::now());
        const int ready = ::poll(polled, std::size(polled), int(std::max(time, milliseconds(0)).count()));
        if (ready < 0 && errno != EINTR) {
            failure_ = Error{std::string("cannot wait: ") + std::strerror(errno)};
            return;
        }
        if (ready > 0 && polled[0].revents)
            take_signals();
        if (ready > 0 && polled[2].revents & POLLIN)
            take_keys();
        else if (ready > 0 && polled[2].revents)
            ended_ = true; // the terminal is gone
        if (ready > 0 && polled[1].revents && link_)
            receive();
        if (!ended_ && !failure_ && Clock::now() >= due_)
            go_on();
    }

    // ---- the server

    /// The time has come to ask: anew, or again, as there was no answer.
    void go_on() {
        if (!query_)
            ask();
        else if (++tries_ < most_tries && link_->send(query_->packet()))
            due_ = Clock::now() + answer_time;
        else
            lose("no server answers at " + server_);
    }

    void ask() {
        if (!link_) {
            auto opened = Link::open(options_.host, options_.port, options_.tcp, options_.password);
            if (!opened) {
                lose("no server at " + server_ + " (" + opened.error() + ")");
                return;
            }
            link_ = std::move(opened.value());
        }
        asked_ = Clock::now();
        query_.emplace();
        send();
    }

    void send() {
        tries_ = 0;
        due_ = Clock::now() + answer_time;
        if (!link_->send(query_->packet()))
            lose("no server answers at " + server_);
    }

    void receive() {
        auto step = Query::Step::ignored;
        const bool there = link_->receive([&](const osc::Message& message) {
            if (!query_ || step == Query::Step::done || step == Query::Step::failed)
                return;
            const Query::Step next = query_->take(message);
            step = next == Query::Step::ignored ? step : next;
        });
        if (step == Query::Step::failed)
            refuse(query_->failure());
        else if (step == Query::Step::done)
            take_sample();
        else if (!there)
            lose("no server answers at " + server_);
        else if (step == Query::Step::ask)
            send();
    }

    void take_sample() {
        auto model = make_model(query_->sample());
        query_.reset();
        due_ = std::max(
            asked_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds)),
            Clock::now());
        if (!trouble_.empty() && !terminal_)
            std::fprintf(stderr, "pw-scsynth: %s answers\n", server_.c_str());
        trouble_.clear();
        if (!view_.held || !model_)
            model_ = std::move(model);
        if (terminal_)
            draw();
        else
            print();
    }

    void print() {
        const std::string text =
            options_.json ? to_json(*model_, options_.host, options_.port) + "\n" : plain_text(scene(), view_);
        if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
            failure_ = Error{std::string("cannot write: ") + std::strerror(errno)};
        ended_ = options_.once;
    }

    /// There is no server, or none any more. At the beginning that is the end.
    void lose(const std::string& what) {
        link_.reset();
        query_.reset();
        due_ = Clock::now() + retry_time;
        if (!model_) {
            failure_ = Error{what + how_to_find_server(options_, "top", elsewhere_())};
            return;
        }
        const bool news = trouble_.empty();
        trouble_ = what + "; trying again, q: quit";
        if (terminal_)
            draw();
        else if (news)
            std::fprintf(stderr, "pw-scsynth: %s; trying again\n", what.c_str());
    }

    /// There is a server, but it doesn't tell.
    void refuse(std::string why) {
        link_.reset();
        query_.reset();
        if (!model_)
            failure_ = Error{server_ + ": " + why};
        else
            lose(why);
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
        if (held && !view_.held && !query_)
            due_ = Clock::now();
        if (any)
            draw();
    }

    Extent extent() const {
        Extent found;
        if (model_) {
            found.rows = int(make_rows(*model_, view_).size());
            for (const GroupLine& group : model_->groups)
                found.deepest = std::max(found.deepest, group.depth);
        }
        found.page = tree_rows(terminal_->size());
        return found;
    }

    Scene scene() const { return {server_, model_ ? &*model_ : nullptr, trouble_}; }

    void draw() {
        if (terminal_ && !ended_ && !failure_)
            terminal_->show(top::draw(scene(), view_, terminal_->size()));
    }

    const Options& options_;
    const std::function<std::string()>& elsewhere_;
    const std::string server_;
    const Signals signals_{signals};
    View view_;
    std::unique_ptr<Terminal> terminal_; ///< none: nothing is drawn
    std::optional<Link> link_;
    std::optional<Query> query_; ///< under way
    std::optional<Model> model_; ///< that is shown
    std::string trouble_;
    Moment asked_{}, due_{}; ///< when the sample was asked for; when there is something to do
    int tries_ = 0;
    bool ended_ = false;
    std::optional<Error> failure_;
};

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere) {
    if (!options.once && !options.json && !Terminal::there())
        return Error{"top: this is no terminal; --once prints one sample, --json prints them as JSON"};
    return Top(options, elsewhere).run();
}

} // namespace scs::top

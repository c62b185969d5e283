// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/watch.hpp"

#include <algorithm>
#include <utility>

namespace scs::top {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds answer_time(500); // then it is asked again
constexpr int most_tries = 4;
constexpr milliseconds retry_time(1000); // between two attempts to find a server that is gone

} // namespace

void Watch::hurry() {
    if (!query_ || done_)
        due_ = Clock::now();
}

/// The time has come to ask: anew, or again, as there was no answer.
Watch::News Watch::go_on() {
    if (!query_ || done_)
        return ask();
    if (++tries_ >= most_tries || !link_->send(query_->packet()))
        return fail(News::lost, silence());
    due_ = Clock::now() + answer_time;
    return News::none;
}

Watch::News Watch::ask() {
    if (!link_) {
        auto opened = Link::open(server_.host, server_.port, server_.tcp, server_.password);
        if (!opened)
            return fail(News::lost, "no server at " + server_.name() + " (" + opened.error() + ")");
        link_ = std::move(opened.value());
    }
    asked_ = Clock::now();
    done_ = false;
    query_.emplace();
    return send();
}

Watch::News Watch::send() {
    tries_ = 0;
    due_ = Clock::now() + answer_time;
    return link_->send(query_->packet()) ? News::none : fail(News::lost, silence());
}

Watch::News Watch::receive() {
    auto step = Query::Step::ignored;
    const bool there = link_->receive([&](const osc::Message& message) {
        if (!query_ || done_ || step == Query::Step::done || step == Query::Step::failed)
            return;
        const Query::Step next = query_->take(message);
        step = next == Query::Step::ignored ? step : next;
    });
    if (step == Query::Step::failed)
        return fail(News::refused, query_->failure());
    if (step == Query::Step::done) {
        done_ = true;
        due_ = std::max(asked_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_)),
                        Clock::now());
        return News::sample;
    }
    if (!there)
        return fail(News::lost, silence());
    return step == Query::Step::ask ? send() : News::none;
}

Watch::News Watch::fail(News news, std::string why) {
    why_ = std::move(why);
    link_.reset();
    query_.reset();
    due_ = Clock::now() + retry_time;
    return news;
}

} // namespace scs::top

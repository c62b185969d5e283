// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/watch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace scs::top {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds answer_time(500); // then it is asked again
constexpr int most_tries = 4;
constexpr milliseconds retry_time(1000); // between two attempts to find a server that is gone

} // namespace

void Watch::hurry() {
    if ((!query_ || done_) && !is_connecting())
        due_ = Clock::now();
}

/// The time has come to ask: anew, or again, as there was no answer; or to give a connection up.
Watch::News Watch::go_on() {
    if (is_connecting())
        return fail_to_connect(std::strerror(ETIMEDOUT));
    if (!query_ || done_)
        return ask();
    if (++tries_ >= most_tries || !link_->send(query_->packet()))
        return fail(News::lost, silence());
    due_ = Clock::now() + answer_time;
    return News::none;
}

Watch::News Watch::ask() {
    if (!link_) {
        auto begun = Link::begin(server_.host, server_.port, server_.tcp, server_.password);
        if (!begun)
            return fail_to_connect(begun.error());
        link_ = std::move(begun.value());
    }
    if (!is_connecting())
        return begin_query();
    due_ = Clock::now() + Link::connect_time;
    return News::none;
}

Watch::News Watch::take_connection() {
    const auto finished = link_->finish();
    return finished ? begin_query() : fail_to_connect(finished.error());
}

Watch::News Watch::fail_to_connect(const std::string& why) {
    return fail(News::lost, "no server at " + server_.name() + " (" + why + ")");
}

Watch::News Watch::begin_query() {
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
    if (is_connecting())
        return take_connection();
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
    if (step != Query::Step::ask)
        return News::none;
    if (Clock::now() - asked_ > longest_)
        return fail(News::refused,
                    "the server took more than " + std::to_string(longest_.count()) + " s to tell its tree");
    return send();
}

Watch::News Watch::fail(News news, std::string why) {
    why_ = std::move(why);
    link_.reset();
    query_.reset();
    due_ = Clock::now() + retry_time;
    return news;
}

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/status.hpp"

#include "cli/status/json.hpp"
#include "cli/status/query.hpp"
#include "cli/status/text.hpp"
#include "cli/top/companion.hpp"
#include "osc/socket-address.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace scs::status {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds answer_time(500); // then it is asked again
constexpr int most_tries = 4;

/// Sends the request, and waits for its answer. ignored: there was none.
Query::Step ask_once(top::Companion& server, Query& query) {
    auto step = Query::Step::ignored;
    server.send(query.address(), query.arguments());
    const auto until = Clock::now() + answer_time;
    while (step == Query::Step::ignored && !server.over() && Clock::now() < until)
        server.wait(-1, int(std::chrono::ceil<milliseconds>(until - Clock::now()).count()),
                    [&](const osc::Message& message) {
                        if (step == Query::Step::ignored)
                            step = query.take(message);
                    });
    return step;
}

/// Has all lists told, as far as there is a server.
void ask(top::Companion& server, Query& query, const std::string& name) {
    for (int tries = 0; !server.over();) {
        const auto step = ask_once(server, query);
        if (step == Query::Step::done)
            return;
        if (step == Query::Step::failed)
            return server.fail(name + ": " + query.failure());
        tries = step == Query::Step::ignored ? tries + 1 : 0;
        if (tries == most_tries)
            return server.lose();
    }
}

/// The columns of the terminal that is written to; without one, a line may be as long as it needs.
Extent extent(const Options& options) {
    Extent extent{.width = std::numeric_limits<size_t>::max(), .all = options.all};
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        extent.width = std::max<size_t>(size.ws_col, 40);
    return extent;
}

uint32_t driver_of(const Contents& contents) {
    const auto found = contents.figures.find("driver-node");
    const auto* id = found == contents.figures.end() ? nullptr : std::get_if<int32_t>(&found->second);
    return id ? uint32_t(*id) : 0;
}

Surroundings look(const Options& options, const Contents& contents, const LookAround& look_around) {
    const auto address = osc::to_sockaddr(options.host, uint16_t(options.port));
    const bool here = address && osc::is_loopback(address.value().sin_addr);
    return here ? look_around(options.port, driver_of(contents)) : Surroundings();
}

} // namespace

Result<bool> run(const Options& options, const std::function<std::string()>& elsewhere, const LookAround& look_around) {
    Query query;
    {
        const auto opened = top::Companion::open(options, "status", elsewhere);
        if (!opened)
            return Error{opened.error()};
        ask(*opened.value(), query, options.name());
        if (opened.value()->over()) {
            const auto ended = opened.value()->end();
            return Error{ended ? "ended before all was told" : ended.error()};
        }
    }
    const Contents& contents = query.contents();
    const Surroundings around = look(options, contents, look_around);
    const std::string text = options.json ? to_json(contents, around, options.host, options.port) + "\n"
                                          : to_text(contents, around, options.name(), extent(options));
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        return Error{std::string("cannot write: ") + std::strerror(errno)};
    return true;
}

} // namespace scs::status

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/page.hpp"

#include "cli/top/reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace scs::trace {

namespace {

constexpr std::array<std::string_view, 7> kinds{"cycle", "walk", "signal", "awake", "job", "write", "wait"};
constexpr double longest = 9e15; // ns that a double holds exactly

Event read_event(top::Reader& reader, int threads) {
    Event event;
    const auto kind = std::find(kinds.begin(), kinds.end(), reader.text());
    const int thread = reader.count();
    const double began = reader.number();
    event.nsec = reader.count();
    event.count = reader.whole();
    if (kind == kinds.end() || thread >= threads || began < 0 || began > longest) {
        reader.reject();
        return event;
    }
    event.kind = Kind(kind - kinds.begin());
    event.thread = uint16_t(thread);
    event.began = int64_t(began);
    if (event.kind == Kind::job)
        event.name = reader.text();
    return event;
}

} // namespace

Result<Page> parse_page(const osc::Message& message) {
    Page page;
    top::Reader reader(message.args);
    page.recording = reader.whole();
    page.number = reader.count();
    page.on = reader.whole() != 0;
    page.more = reader.whole() != 0;
    page.threads = reader.count();
    page.dropped = reader.count();
    if (page.threads < 1 || page.threads > most_threads)
        reader.reject();
    while (reader.more())
        page.events.push_back(read_event(reader, page.threads));
    if (message.name() != "trace_read.reply" || !reader.good())
        return Error{"the server's answer to /trace_read is not as this program knows it"};
    return page;
}

} // namespace scs::trace

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/recording.hpp"

#include "cli/top/refusal.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace scs::trace {

namespace {

constexpr const char *start_command = "/trace_start", *read_command = "/trace_read", *stop_command = "/trace_stop";
constexpr int most_pages_wanted = 8; // of 32 KiB: a socket's buffer has to hold them

Recording::Packet packet(const char* command, std::vector<osc::ReplyArg> args) {
    osc::ReplyComposer composer;
    const auto bytes = composer.compose(command, args);
    return bytes ? Recording::Packet(bytes.value().begin(), bytes.value().end()) : Recording::Packet();
}

} // namespace

Recording::Packet Recording::start() {
    return packet(start_command, {});
}

Recording::Packet Recording::read() const {
    return packet(read_command, {number_});
}

Recording::Packet Recording::stop() const {
    return packet(stop_command, {number_});
}

Recording::Step Recording::fail(std::string why) {
    failure_ = std::move(why);
    return Step::failed;
}

Recording::Step Recording::take(const osc::Message& message) {
    if (message.name() == "fail")
        return take_failure(message);
    if (message.name() == "done" && !number_) {
        osc::ArgReader args(message.args);
        if (args.get_string() != start_command)
            return Step::ignored;
        number_ = args.get_int();
        return number_ ? Step::started : fail("the server doesn't say which recording it has started");
    }
    if (message.name() != "trace_read.reply" || !number_)
        return Step::ignored;
    auto page = parse_page(message);
    return page ? take_page(std::move(page.value())) : fail(page.error());
}

Recording::Step Recording::take_page(Page&& page) {
    if (page.recording != number_ || page.number < next_page_)
        return Step::ignored;
    log_.lost_pages += page.number - next_page_;
    next_page_ = page.number + 1;
    log_.threads = page.threads;
    log_.dropped = page.dropped;
    std::move(page.events.begin(), page.events.end(), std::back_inserter(log_.events));
    pages_wanted_ = page.more ? std::min(2 * pages_wanted_, most_pages_wanted) : 1;
    idle_ = !page.more;
    on_ = page.on;
    return page.on || page.more ? Step::page : Step::done;
}

Recording::Step Recording::take_failure(const osc::Message& message) {
    osc::ArgReader args(message.args);
    const std::string_view name = args.get_string(), text = args.get_string();
    // Once it has started, what was asked for twice may be refused once.
    if (name == start_command ? number_ != 0 : name != read_command || !number_)
        return Step::ignored;
    if (text == "Another client records")
        return fail("another client records; one at a time can");
    return fail(top::refusal(name, text));
}

} // namespace scs::trace

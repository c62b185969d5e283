// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/query.hpp"

#include "cli/top/refusal.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace scs::top {

namespace {

constexpr const char* command = "/g_queryCost";
constexpr int32_t root = 0;
constexpr int most_restarts = 3;
constexpr int most_pages = 4096;             // those of a server with as many nodes as it may have, twice
constexpr size_t most_entries = 1 << 21;     // these nodes, each told in an entry of its own
constexpr size_t most_name_bytes = 64 << 20; // of the names in these entries

} // namespace

Query::Query() {
    begin();
}

void Query::begin() {
    places_.clear();
    sample_ = {};
    pages_ = 0;
    name_bytes_ = 0;
    ask();
}

void Query::ask() {
    std::vector<osc::ReplyArg> args{root};
    for (const Place& place : places_)
        args.insert(args.end(), {place.id, int32_t(place.behind)});
    osc::ReplyComposer composer;
    const auto bytes = composer.compose(command, args);
    packet_.clear();
    if (bytes)
        packet_.assign(bytes.value().begin(), bytes.value().end());
}

Query::Step Query::fail(std::string why) {
    failure_ = std::move(why);
    return Step::failed;
}

Query::Step Query::take(const osc::Message& message) {
    if (message.name() == "fail")
        return take_failure(message);
    if (message.name() != "g_queryCost.reply")
        return Step::ignored;
    auto page = parse_page(message);
    return page ? take_page(std::move(page.value())) : fail(page.error());
}

Query::Step Query::take_page(Page&& page) {
    // What was asked for twice may also be answered twice.
    const bool expected = places_.empty() ? page.begins == Place{root, false}
                                          : std::find(places_.begin(), places_.end(), page.begins) != places_.end();
    if (page.group != root || !expected)
        return Step::ignored;
    sample_.server = page.server;
    sample_.groups.insert(sample_.groups.end(), page.groups.begin(), page.groups.end());
    for (const SynthsEntry& entry : page.synths)
        name_bytes_ += entry.name.size();
    std::move(page.synths.begin(), page.synths.end(), std::back_inserter(sample_.synths));
    places_ = std::move(page.next);
    if (places_.empty())
        return Step::done;
    if (++pages_ == most_pages || sample_.groups.size() + sample_.synths.size() > most_entries ||
        name_bytes_ > most_name_bytes)
        return fail("the server's tree has no end");
    ask();
    return Step::ask;
}

/// Where the next page was to begin, all nodes have gone: the tree is asked for anew, and if that happens again and
/// again, what is known of it has to do.
Query::Step Query::take_failure(const osc::Message& message) {
    osc::ArgReader args(message.args);
    const std::string_view name = args.get_string(), text = args.get_string();
    if (name != command)
        return Step::ignored;
    if (places_.empty() || !text.starts_with("Node "))
        return fail(refusal(command, text));
    if (restarts_++ == most_restarts) {
        sample_.whole = false;
        return Step::done;
    }
    begin();
    return Step::ask;
}

} // namespace scs::top

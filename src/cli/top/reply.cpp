// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/reply.hpp"

#include "cli/top/reader.hpp"

#include <string>
#include <utility>

namespace scs::top {

namespace {

void read_server(Reader& reader, ServerFigures& server) {
    server.block_frames = reader.count();
    server.rate = reader.number();
    server.load = reader.number();
    server.peak = reader.number();
    server.limit = reader.number();
    for (int* count : {&server.longest_block, &server.threads, &server.synths, &server.groups, &server.cuts,
                       &server.ended, &server.paused})
        *count = reader.count();
}

Place read_place(Reader& reader) {
    const int32_t id = reader.whole();
    return {id, reader.whole() != 0};
}

void read_entry(Reader& reader, Page& page) {
    const std::string kind = reader.text();
    if (kind == "group") {
        GroupEntry entry;
        entry.id = reader.whole();
        entry.parent = reader.whole();
        entry.runs = reader.whole() != 0;
        page.groups.push_back(entry);
    } else if (kind == "synths") {
        SynthsEntry entry;
        entry.group = reader.whole();
        entry.name = reader.text();
        entry.running = reader.count();
        entry.paused = reader.count();
        entry.native = reader.whole() != 0;
        entry.batches = reader.count();
        entry.cost = reader.count();
        page.synths.push_back(std::move(entry));
    } else if (kind == "next") {
        while (reader.more() && !reader.at_text())
            page.next.push_back(read_place(reader));
    } else {
        reader.reject();
    }
}

} // namespace

Result<Page> parse_page(const osc::Message& message) {
    Page page;
    Reader reader(message.args);
    page.group = reader.whole();
    page.begins = read_place(reader);
    read_server(reader, page.server);
    while (reader.more())
        read_entry(reader, page);
    if (message.name() != "g_queryCost.reply" || !reader.good())
        return Error{"the server's answer to /g_queryCost is not as this program knows it"};
    return page;
}

} // namespace scs::top

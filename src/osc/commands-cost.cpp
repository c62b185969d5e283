// SPDX-License-Identifier: GPL-3.0-or-later
// /g_queryCost: the groups of a tree with what they cost, page by page.
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"
#include "osc/walk-page.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace scs::osc {

namespace {

constexpr int64_t node_cost = 100; // ns, an estimate for the deadline
// What bounds a page: a server that plays to its limit shall not lose a block to whoever watches it.
constexpr int64_t nodes_a_page = 1024;
constexpr size_t most_page_bytes = 16384;
constexpr int synths_an_entry = 64; // between two questions for the time
constexpr size_t server_arguments = 16;
constexpr size_t most_name_bytes = 255; // a SynthDef file's names are no longer

/// A page may be one entry longer than most_page_bytes. The places to go on follow.
size_t page_room(ArgReader) noexcept {
    return most_page_bytes + reply_bytes(1, server_arguments + 8, most_name_bytes + 64) +
           reply_bytes(0, 2 * WalkPlaces::most + 1, 64);
}

int32_t as_int(uint64_t count) noexcept {
    return int32_t(std::min<uint64_t>(count, INT32_MAX));
}

void tell_server(ReplyWriter& reply, Engine& engine) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    const Settings& settings = engine.settings();
    const EngineStatus& now = engine.status();
    reply.add(int32_t(settings.block_size));
    reply.add(now.rate.load(relaxed));
    reply.add(now.average_cpu.load(relaxed));
    reply.add(now.peak_cpu.load(relaxed));
    reply.add(float(settings.cpu_limit * 100));
    reply.add(as_int(uint64_t(std::max<int64_t>(now.longest_block.load(relaxed), 0))));
    reply.add(int32_t(settings.threads));
    reply.add(int32_t(engine.tree().counts().synths()));
    reply.add(int32_t(engine.tree().counts().groups()));
    reply.add(as_int(now.cuts.load(relaxed)));
    reply.add(as_int(now.ended.load(relaxed)));
    reply.add(now.paused.load(relaxed));
}

void tell_group(ReplyWriter& reply, const Group& group) noexcept {
    reply.add(std::string_view("group"));
    reply.add(group.id);
    const Group* const above = seen_parent(group);
    reply.add(above ? above->id : int32_t(-1));
    reply.add(int32_t(group.run == Run::on));
}

/// An entry for a synth and for those right after it that are of the same SynthDef. Returns the last one.
Synth& tell_synths(ReplyWriter& reply, Synth& first, int64_t& told) noexcept {
    const Definition& definition = *first.definition;
    Synth* last = &first;
    int32_t running = 0, paused = 0, batches = 0;
    for (int count = 1;; ++count) {
        ++told;
        const bool off = is_paused(*last);
        running += !off && last->run != Run::ending;
        paused += off;
        batches += Turns::leads_batch(*last);
        Node* const next = last->next;
        if (count == synths_an_entry || !next || next->is_group || static_cast<Synth*>(next)->definition != &definition)
            break;
        last = static_cast<Synth*>(next);
    }
    reply.add(std::string_view("synths"));
    reply.add(seen_parent(first)->id);
    reply.add(std::string_view(definition.program->name));
    reply.add(running);
    reply.add(paused);
    reply.add(int32_t(first.voice != nullptr));
    reply.add(batches);
    reply.add(as_int(uint64_t(definition.facts->costs.synth)));
    return *last;
}

Status g_query_cost(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    NodeWalk& walk = place.walk;
    ReplyWriter& reply = command.reply();
    if (!walk.node) {
        int32_t from = 0;
        if (const Status status = begin_page(place, engine.tree(), from); status.failed())
            return status;
        walk.behind = from != 0;
        reply.begin("/g_queryCost.reply");
        reply.add(place.node->id);
        reply.add(walk.node->id);
        reply.add(int32_t(walk.behind));
        tell_server(reply, engine);
    }
    auto& top = static_cast<Group&>(*place.node);
    int64_t& told = place.number;
    while (walk.node && told < nodes_a_page && reply.bytes().size() < most_page_bytes) {
        if (engine.out_of_time(synths_an_entry * node_cost))
            return command.unfinished();
        if (walk.behind || as_cluster(walk.node)) {
            ++told;
        } else if (walk.node->is_group) {
            ++told;
            tell_group(reply, static_cast<const Group&>(*walk.node));
        } else {
            walk.node = &tell_synths(reply, static_cast<Synth&>(*walk.node), told);
        }
        walk.step(top);
    }
    if (walk.node)
        tell_next(reply, walk, top);
    return {};
}

constexpr CommandSpec commands[] = {
    {.name = "/g_queryCost", .handler = g_query_cost, .reply_room = page_room},
};

} // namespace

std::span<const CommandSpec> cost_commands() {
    return commands;
}

} // namespace scs::osc

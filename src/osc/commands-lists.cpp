// SPDX-License-Identifier: GPL-3.0-or-later
// /n_list, /n_status, /s_query, /d_list, /b_list, /bind_list and /server_info: what a server has, for tools. Lists come
// page by page: a server that plays to its limit shall not lose a block to whoever watches it, and a page fits into a
// datagram.
#include "engine/base/hash.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/control/bindings.hpp"
#include "engine/engine.hpp"
#include "engine/rt/pool.hpp"
#include "engine/tree/controls.hpp"
#include "osc/command-table.hpp"
#include "osc/control-texts.hpp"
#include "osc/node-args.hpp"
#include "osc/packet-binding.hpp"
#include "osc/server-settings.hpp"
#include "osc/value-replies.hpp"
#include "osc/walk-page.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

namespace scs::osc {

namespace {

// ns, estimates for the deadline
constexpr int64_t node_cost = 200, control_cost = 80, chain_cost = 10, buffer_cost = 10, figures_cost = 2000;

constexpr size_t most_page_bytes = 16384; // a page may be one entry longer
constexpr int64_t nodes_a_page = 1024, chains_a_page = 65536, buffers_a_page = 65536;
constexpr int64_t looks_at_once = 64; // between two questions for the time
// Of an entry: more items are told by others.
constexpr int items_an_entry = 256;
constexpr size_t most_item_bytes = 8192, most_text_bytes = 1024;
constexpr size_t most_name_bytes = 255; // a SynthDef file's names are no longer

size_t page_room(ArgReader) noexcept {
    return most_page_bytes + most_item_bytes + reply_bytes(1, 17 + 2 * WalkPlaces::most, 2 * most_name_bytes + 64);
}

bool is_full(const ReplyWriter& reply) noexcept {
    return reply.bytes().size() >= most_page_bytes;
}

/// How many items from `first` on an entry tells, at least one if there is any. `bytes(i)`: of item i in a reply.
template <class Bytes>
int items_to_tell(int first, int count, Bytes bytes) noexcept {
    int told = 0;
    size_t sum = 0;
    for (; told < std::min(count - first, items_an_entry); ++told) {
        sum += bytes(first + told);
        if (told > 0 && sum > most_item_bytes)
            break;
    }
    return told;
}

/// Adds how many controls there are, the first that is told, how many are, and these, each with what `add(i)` adds.
/// Returns the one after them.
template <class Add>
int tell_controls(ReplyWriter& reply, const Program& program, int first, int count, Add add) noexcept {
    ControlNames measured(program, uint32_t(first)), names(program, uint32_t(first));
    const int told = items_to_tell(first, count, [&](int i) { return measured.at(uint32_t(i)).size() + 26; });
    for (const int32_t number : {count, first, told})
        reply.add(number);
    for (int i = first; i < first + told; ++i) {
        names.add(reply, i);
        add(i);
    }
    return first + told;
}

int64_t cost_of(const Node& node) noexcept {
    const int controls = node.is_group ? 0 : control_count(static_cast<const Synth&>(node));
    return node_cost + std::min(controls, items_an_entry) * control_cost;
}

void tell_group(ReplyWriter& reply, const Group& group) noexcept {
    const Group* const above = seen_parent(group);
    reply.add(std::string_view("group"));
    for (const int32_t number : {group.id, above ? above->id : -1, int32_t(!is_paused(group)), int32_t(group.parallel)})
        reply.add(number);
}

/// Tells of a synth and its controls from `first` on. Returns the one to go on with, 0 if all are told.
int tell_synth(ReplyWriter& reply, const Synth& synth, int64_t first) noexcept {
    const Program& program = *synth.definition->program;
    const int count = control_count(synth);
    reply.add(std::string_view("synth"));
    for (const int32_t number : {synth.id, seen_parent(synth)->id, int32_t(!is_paused(synth))})
        reply.add(number);
    reply.add(std::string_view(program.name));
    const int from = first < count ? int(first) : 0; // another synth may have got the ID
    const int next = tell_controls(reply, program, from, count, [&](int i) { add_value(reply, synth, i); });
    return next < count ? next : 0;
}

/// The same of any node.
int tell_node(ReplyWriter& reply, const Node& node, int64_t first) noexcept {
    if (!node.is_group)
        return tell_synth(reply, static_cast<const Synth&>(node), first);
    tell_group(reply, static_cast<const Group&>(node));
    return 0;
}

/// group, (node, from)*; see begin_page(). Place::part is the control to go on with.
Status n_list(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    NodeWalk& walk = place.walk;
    ReplyWriter& reply = command.reply();
    if (!walk.node) {
        int32_t from = 0;
        if (const Status status = begin_page(place, engine.tree(), from); status.failed())
            return status;
        walk.behind = from > 0;
        place.part = std::max(-int64_t(from), int64_t(0));
        reply.begin("/n_list.reply");
        for (const int32_t number : {place.node->id, walk.node->id, from})
            reply.add(number);
    }
    auto& top = static_cast<Group&>(*place.node);
    for (int64_t& told = place.number; walk.node && told < nodes_a_page && !is_full(reply); ++told) {
        const bool passed_over = walk.behind || as_cluster(walk.node);
        if (engine.out_of_time(passed_over ? node_cost : cost_of(*walk.node)))
            return command.unfinished();
        place.part = passed_over ? 0 : tell_node(reply, *walk.node, place.part);
        if (place.part == 0)
            walk.step(top);
    }
    if (walk.node)
        tell_next(reply, walk, top, -int32_t(place.part));
    return {};
}

/// node*
Status n_status(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    if (reply.bytes().empty())
        reply.begin("/n_status.reply");
    for (; place.args.remain() > 0 && !is_full(reply); ++place.number) {
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        if (engine.out_of_time(arg ? cost_of(*arg.node) : node_cost))
            return command.unfinished();
        place.args = args;
        if (arg) {
            tell_node(reply, *arg.node, 0);
        } else {
            reply.add(std::string_view("none"));
            reply.add(arg.id);
        }
    }
    if (place.args.remain() > 0) {
        reply.add(std::string_view("next"));
        reply.add(int32_t(place.number));
    }
    return {};
}

/// Whether /s_info of this SynthDef fits into a datagram for sure.
bool fits_datagram(const Program& program, int controls) noexcept {
    size_t bytes = 256 + size_t(controls) * 24;
    for (size_t i = 0; i < program.control_slots.size() && bytes <= max_values_bytes; ++i)
        bytes += padded(program.control_slots[i].name.size() + 1);
    return bytes <= max_values_bytes;
}

void refuse_synth(ReplyWriter& reply, int32_t id, std::string_view why) noexcept {
    reply.begin("/fail");
    reply.add(std::string_view("/s_query"));
    reply.add(why);
    reply.add(id);
}

/// node*; an /s_info for each synth, a /fail for what is none or doesn't fit. Place::part is the control to go on with.
Status s_query(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    while (place.args.remain() > 0) {
        ArgReader args = place.args;
        const NodeArg arg = read_node(args, engine.tree());
        const Synth* const synth = arg.synth();
        const Program* const program = synth ? synth->definition->program.get() : nullptr;
        if (engine.out_of_time(node_cost + (program ? int64_t(program->control_slots.size()) : 0)))
            return command.unfinished();
        if (!synth) {
            refuse_synth(reply, arg.id, "Synth not found");
        } else if (place.part == 0 &&
                   (reply.bytes().size() > max_values_bytes / 2 || !fits_datagram(*program, control_count(*synth)))) {
            refuse_synth(reply, arg.id, "buffer overflow");
        } else {
            if (place.part == 0) {
                reply.begin("/s_info");
                reply.add(arg.node->id);
                reply.add(std::string_view(program->name));
            }
            if (!add_controls(engine, reply, *synth, place.part))
                return command.unfinished();
        }
        place.args = args;
    }
    return {};
}

size_t s_query_room(ArgReader args) noexcept {
    return 2 * max_reply_bytes + reply_bytes(args.remain() / 4 + 1, 3 * (args.remain() / 4 + 1), 8 * args.remain());
}

/// Tells of a SynthDef and its controls from `first` on. Returns the one to go on with, 0 if all are told.
int tell_definition(ReplyWriter& reply, const Definition& definition, int64_t first) noexcept {
    const Program& program = *definition.program;
    const auto count = int(program.controls.size());
    reply.add(std::string_view("synthdef"));
    reply.add(std::string_view(program.name));
    reply.add(definition.users - 1); // one is the table's
    reply.add(int32_t(program.units.size()));
    reply.add(int32_t(definition.code != nullptr));
    const int from = first < count ? int(first) : 0;
    const int next = tell_controls(reply, program, from, count, [&](int i) { reply.add(program.controls[size_t(i)]); });
    return next < count ? next : 0;
}

/// Null: the chain has no more than `index` of them.
const Definition* definition_at(const Definitions& definitions, int64_t chain, int64_t index) noexcept {
    const Definition* definition = definitions.first_of(size_t(chain));
    for (int64_t i = 0; definition && i < index; ++i)
        definition = definition->chain;
    return definition;
}

/// Goes on at the SynthDef of this name, as others of the chain may have gone; if it has gone itself, with the chain.
void find_definition(const Definitions& definitions, std::string_view name, Place& place) noexcept {
    if (place.number >= int64_t(definitions.chains()))
        return;
    int64_t index = 0;
    for (const Definition* each = definitions.first_of(size_t(place.number)); each; each = each->chain, ++index)
        if (same_name(each->program->name, name)) {
            place.end = index;
            return;
        }
    place.end = place.part = 0;
}

/// [chain, which one in it, control [, its name]]: Place::number, end and part.
Status d_list(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    const auto read = [&] { return std::max<int64_t>(place.args.get_int(), 0); };
    if (reply.bytes().empty()) {
        if (engine.out_of_time(looks_at_once * chain_cost))
            return command.unfinished();
        reply.begin("/d_list.reply");
        place.number = read();
        place.end = read();
        place.part = read();
        for (const int64_t number : {place.number, place.end, place.part})
            reply.add(int32_t(number));
        if (place.args.at_string())
            find_definition(engine.definitions(), place.args.get_string(), place);
    }
    const auto chains = int64_t(engine.definitions().chains());
    int64_t looked_at = 0;
    while (place.number < chains && !is_full(reply) && looked_at < chains_a_page) {
        if (looked_at++ % looks_at_once == 0 && engine.out_of_time(looks_at_once * chain_cost))
            return command.unfinished();
        const Definition* const definition = definition_at(engine.definitions(), place.number, place.end);
        if (!definition) {
            ++place.number;
            place.end = place.part = 0;
            continue;
        }
        if (engine.out_of_time(node_cost + items_an_entry * control_cost))
            return command.unfinished();
        place.part = tell_definition(reply, *definition, place.part);
        place.end += place.part == 0;
    }
    if (place.number < chains) {
        reply.add(std::string_view("next"));
        for (const int64_t number : {place.number, place.end, place.part})
            reply.add(int32_t(number));
        if (const Definition* const next = definition_at(engine.definitions(), place.number, place.end))
            reply.add(std::string_view(next->program->name));
    }
    return {};
}

void tell_buffer(ReplyWriter& reply, int32_t number, const Buffer& buffer) noexcept {
    reply.add(std::string_view("buffer"));
    for (const int32_t value : {number, buffer.frames, buffer.channels})
        reply.add(value);
    reply.add(buffer.sample_rate);
    reply.add(int32_t(buffer.stream != nullptr));
}

/// [buffer]
Status b_list(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    if (reply.bytes().empty()) {
        reply.begin("/b_list.reply");
        place.number = std::max<int64_t>(place.args.get_int(), 0);
        reply.add(int32_t(place.number));
        place.end = std::min<int64_t>(place.number + buffers_a_page, engine.buffers().count());
    }
    for (; place.number < place.end && !is_full(reply); ++place.number) {
        if (place.number % looks_at_once == 0 && engine.out_of_time(looks_at_once * buffer_cost))
            return command.unfinished();
        const auto number = int32_t(place.number);
        if (const Buffer buffer = engine.buffers().get(number); buffer.data)
            tell_buffer(reply, number, buffer);
    }
    if (place.number < engine.buffers().count()) {
        reply.add(std::string_view("next"));
        reply.add(int32_t(place.number));
    }
    return {};
}

std::string_view text_of(const BindingWord& word) noexcept {
    const auto* text = std::get_if<std::string>(&word);
    return text ? std::string_view(text->data(), std::min(text->size(), most_text_bytes)) : std::string_view();
}

void add_word(ReplyWriter& reply, const BindingWord& word) noexcept {
    if (const auto* whole = std::get_if<int32_t>(&word))
        reply.add(*whole);
    else if (const auto* number = std::get_if<float>(&word))
        reply.add(*number);
    else if (const auto* fine = std::get_if<double>(&word))
        reply.add(*fine);
    else
        reply.add(text_of(word));
}

/// Tells of a binding and its words from `first` on. Returns the one to go on with, 0 if all are told.
int tell_binding(ReplyWriter& reply, const Binding& binding, int64_t first) noexcept {
    const std::span<const BindingWord> words = binding.words();
    const auto count = int(words.size());
    const int from = first < count ? int(first) : 0;
    const int told = items_to_tell(from, count, [&](int i) { return text_of(words[size_t(i)]).size() + 9; });
    reply.add(std::string_view("binding"));
    for (const int32_t number : {binding.id(), count, from, told})
        reply.add(number);
    for (const BindingWord& word : words.subspan(size_t(from), size_t(told)))
        add_word(reply, word);
    return from + told < count ? from + told : 0;
}

/// Goes on at the binding of this ID, as others before it may have gone; if it has gone itself, with the list.
void find_binding(const Bindings& bindings, int32_t id, Place& place) noexcept {
    for (size_t i = 0; i < bindings.count(); ++i)
        if (bindings.at(i).id() == id) {
            place.number = int64_t(i);
            return;
        }
    place.number = place.part = 0;
}

/// [binding, word [, its ID]]: Place::number and part.
Status bind_list(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Place& place = command.place();
    ReplyWriter& reply = command.reply();
    if (reply.bytes().empty()) {
        if (engine.out_of_time(int64_t(Bindings::most) * chain_cost))
            return command.unfinished();
        reply.begin("/bind_list.reply");
        place.number = std::max<int64_t>(place.args.get_int(), 0);
        place.part = std::max<int64_t>(place.args.get_int(), 0);
        reply.add(int32_t(place.number));
        reply.add(int32_t(place.part));
        if (place.args.remain() > 0)
            find_binding(engine.bindings(), place.args.get_int(), place);
    }
    const auto count = int64_t(engine.bindings().count());
    while (place.number < count && !is_full(reply)) {
        if (engine.out_of_time(node_cost + items_an_entry * control_cost))
            return command.unfinished();
        const Binding& binding = engine.bindings().at(size_t(place.number));
        place.part = binding.id() == packet_binding_id ? 0 : tell_binding(reply, binding, place.part);
        place.number += place.part == 0;
    }
    if (place.number < count) {
        reply.add(std::string_view("next"));
        for (const int64_t number : {place.number, place.part})
            reply.add(int32_t(number));
        reply.add(engine.bindings().at(size_t(place.number)).id());
    }
    return {};
}

/// Adds pairs of a name and a value.
class Figures {
public:
    explicit Figures(ReplyWriter& reply) noexcept : reply_(reply) {}

    template <class Value>
    void operator()(std::string_view name, Value value) noexcept {
        reply_.add(name);
        reply_.add(value);
    }
    /// What may be more than an int is told up to its end.
    void count(std::string_view name, uint64_t value) noexcept {
        (*this)(name, int32_t(std::min<uint64_t>(value, INT32_MAX)));
    }

private:
    ReplyWriter& reply_;
};

void tell_driver(Figures& figures, const Driver& driver) noexcept {
    figures("driver", std::string_view(driver.name.data()));
    figures("driver-node", int32_t(driver.id));
    figures("quantum", driver.quantum);
    figures("graph-rate", driver.rate);
}

void tell_settings(Figures& figures, const Settings& settings) noexcept {
    figures("block", int32_t(settings.block_size));
    figures("inputs", int32_t(settings.inputs));
    figures("outputs", int32_t(settings.outputs));
    figures("audio-buses", int32_t(settings.audio_buses));
    figures("control-buses", int32_t(settings.control_buses));
    figures("buffers", int32_t(settings.buffers));
    figures("max-nodes", int32_t(settings.max_nodes));
    figures("max-synthdefs", int32_t(settings.max_synthdefs));
    figures("threads", int32_t(settings.threads));
    figures("limit", float(settings.cpu_limit * 100));
}

void tell_load(Figures& figures, const EngineStatus& now) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    figures("load", now.average_cpu.load(relaxed));
    figures("peak", now.peak_cpu.load(relaxed));
    figures("units", now.units.load(relaxed));
    figures("paused", now.paused.load(relaxed));
    figures.count("cuts", now.cuts.load(relaxed));
    figures.count("ended", now.ended.load(relaxed));
    figures.count("late", now.late_bundles.load(relaxed));
}

Status server_info(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    if (engine.out_of_time(figures_cost))
        return command.unfinished();
    ReplyWriter& reply = command.reply();
    reply.begin("/server_info.reply");
    Figures figures(reply);
    figures("program", std::string_view("pw-scsynth"));
    figures("version", std::string_view(SCS_VERSION));
    figures("protocol", std::string_view("3.13.0"));
    figures("supercollider", name_of(engine.status().release.load(std::memory_order_relaxed)));
    tell_driver(figures, command.services().driver);
    figures("rate", engine.status().rate.load(std::memory_order_relaxed));
    tell_settings(figures, engine.settings());
    tell_load(figures, engine.status());
    figures("synths", int32_t(engine.tree().counts().synths()));
    figures("groups", int32_t(engine.tree().counts().groups()));
    figures("synthdefs", int32_t(engine.definitions().count()));
    figures.count("memory", engine.settings().rt_memory_kib);
    figures.count("memory-free", engine.world().pool().free_bytes() / 1024);
    return {};
}

size_t info_room(ArgReader) noexcept {
    constexpr size_t figures = 40, longest_name = 16;
    return reply_bytes(1, 2 * figures, figures * longest_name + 256);
}

constexpr CommandSpec commands[] = {
    {.name = "/n_list", .handler = n_list, .reply_room = page_room},
    {.name = "/n_status", .handler = n_status, .reply_room = page_room},
    {.name = "/s_query", .handler = s_query, .reply_room = s_query_room},
    {.name = "/d_list", .handler = d_list, .reply_room = page_room},
    {.name = "/b_list", .handler = b_list, .reply_room = page_room},
    {.name = "/bind_list", .handler = bind_list, .reply_room = page_room},
    {.name = "/server_info", .handler = server_info, .reply_room = info_room},
};

} // namespace

std::span<const CommandSpec> list_commands() {
    return commands;
}

} // namespace scs::osc

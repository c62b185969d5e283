// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/value-replies.hpp"

#include <algorithm>

namespace scs::osc {

namespace {

constexpr int64_t bus_cost = 5; // ns, an estimate for the deadline

std::span<float> control_buses(Engine& engine) noexcept {
    return {engine.buses().control(), size_t(engine.buses().control_count())};
}

/// (bus, value)*
Status c_set(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    for (ArgReader& args = command.place().args; args.remain() >= 8;) {
        if (engine.out_of_time(2 * bus_cost))
            return command.unfinished();
        const int32_t bus = args.get_int();
        const Status status = engine.buses().set_control(bus, args.get_float(), engine.block_number());
        if (status.failed())
            return status;
    }
    return {};
}

/// (first bus, count, value*)*
Status c_setn(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Buses& buses = engine.buses();
    Place& place = command.place();
    while (place.args.remain()) {
        if (place.number == place.end) {
            const int64_t first = place.args.get_int(), count = place.args.get_int();
            if (first < 0 || count < 1 || first + count > buses.control_count())
                return {Code::index_out_of_range};
            place.number = first;
            place.end = first + count;
        }
        for (; place.number < place.end && place.args.remain(); ++place.number) {
            if (engine.out_of_time(2 * bus_cost))
                return command.unfinished();
            (void)buses.set_control(place.number, place.args.get_float(), engine.block_number());
        }
    }
    return {};
}

/// (first bus, count, value)*; buses that don't exist are ignored without a failure.
Status c_fill(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    Buses& buses = engine.buses();
    for (ArgReader& args = command.place().args; args.remain() >= 12;) {
        if (engine.out_of_time(buses.control_count()))
            return command.unfinished();
        const int64_t first = args.get_int(), count = args.get_int();
        const float value = args.get_float();
        const int64_t end = std::min<int64_t>(first + count, buses.control_count());
        for (int64_t bus = std::max<int64_t>(first, 0); bus < end; ++bus)
            (void)buses.set_control(bus, value, engine.block_number());
    }
    return {};
}

size_t c_get_room(ArgReader args) noexcept {
    return values_room("/c_set", indexed_arguments(args));
}

Status c_get(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    return reply_indexed(command, "/c_set", {}, command.args(), control_buses(engine));
}

size_t c_getn_room(ArgReader args) noexcept {
    return values_room("/c_setn", ranged_arguments(args));
}

Status c_getn(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    return reply_ranged(command, "/c_setn", {}, command.args(), control_buses(engine));
}

constexpr CommandSpec commands[] = {
    {.number = 25, .name = "/c_set", .handler = c_set, .bindable = true},
    {.number = 26, .name = "/c_setn", .handler = c_setn, .bindable = true},
    {.number = 27, .name = "/c_fill", .handler = c_fill, .bindable = true},
    {.number = 40, .name = "/c_get", .handler = c_get, .reply_room = c_get_room},
    {.number = 41, .name = "/c_getn", .handler = c_getn, .reply_room = c_getn_room},
};

} // namespace

std::span<const CommandSpec> bus_commands() {
    return commands;
}

} // namespace scs::osc

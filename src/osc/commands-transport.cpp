// SPDX-License-Identifier: GPL-3.0-or-later
// /transport and /transport_next: clients say what they want of the graph's transport, and pw-scsynth transport, which
// drives it, asks for that.
#include "engine/base/nonblocking.hpp"
#include "engine/control/transport-requests.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/server-settings.hpp"

#include <array>
#include <limits>
#include <string_view>

namespace scs::osc {

namespace {

using Request = TransportRequests::Request;

constexpr std::array<std::string_view, 4> words = {"start", "stop", "locate", "tempo"}; // as in Request::Kind
constexpr double silence = 2;                                                           ///< s, of one that is gone

uint32_t blocks_of_silence(Engine& engine) noexcept {
    return uint32_t(silence * engine.status().rate.load(std::memory_order_relaxed) / engine.settings().block_size) + 1;
}

/// word  [value]
Status transport(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    const std::string_view word = args.get_string();
    size_t kind = 0;
    while (kind < words.size() && words[kind] != word)
        ++kind;
    if (kind == words.size())
        return command.fail("it is start, stop, locate or tempo");
    Request request{Request::Kind(kind), 0};
    if (request.kind >= Request::Kind::locate)
        request.value = args.get_double(std::numeric_limits<double>::quiet_NaN());
    if (request.kind == Request::Kind::locate && !(request.value >= 0 && request.value <= 1e6))
        return command.fail("a beat is 0 to 1000000");
    if (request.kind == Request::Kind::tempo && !(request.value >= 0.01 && request.value <= 100))
        return command.fail("a tempo is 0.01 to 100 beats a second");
    TransportRequests& requests = engine.transport_requests();
    if (!requests.driven(engine.block_number(), blocks_of_silence(engine)))
        return command.fail("nobody drives the transport: pw-scsynth transport does");
    return requests.add(request) ? Status{} : command.fail("there are too many at once");
}

/// [word]: tells the one that drives the transport what there is to do, and that it does drive it, unless it ends.
Status next(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    const std::string_view word = args.at_string() ? args.get_string() : std::string_view();
    if (!word.empty() && word != "begin" && word != "end")
        return command.fail("it is begin or end");
    TransportRequests& requests = engine.transport_requests();
    if (!word.empty())
        requests.leave();
    if (word != "end")
        requests.drive(engine.block_number());
    ReplyWriter& reply = command.reply();
    reply.begin("/transport_next.reply");
    while (const auto request = requests.take()) {
        reply.add(words[size_t(request->kind)]);
        reply.add(request->value);
    }
    return {};
}

size_t next_room(ArgReader) noexcept {
    return reply_bytes(1, 2 * TransportRequests::most, 8 * TransportRequests::most);
}

constexpr CommandSpec commands[] = {
    {.name = "/transport", .types = "s", .handler = transport},
    {.name = "/transport_next", .handler = next, .reply_room = next_room},
};

} // namespace

std::span<const CommandSpec> transport_commands() {
    return commands;
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/event-pump.hpp"

#include "engine/control/midi.hpp"
#include "osc/clients.hpp"
#include "osc/reply-port.hpp"
#include "osc/reply-to.hpp"

#include <array>
#include <cstring>
#include <new>
#include <vector>

namespace scs::osc {

namespace {

template <class T>
bool read(std::span<const std::byte> record, T& event) {
    if (record.size() < sizeof event)
        return false;
    std::memcpy(&event, record.data(), sizeof event);
    return true;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void broadcast(ReplyPort& port, std::string_view address, std::span<const ReplyArg> args) {
    for (const Clients::Login& login : port.clients().all())
        port.send(login.endpoint, address, args);
}

std::string_view address_of(NodeChange change) {
    switch (change) {
    case NodeChange::go: return "/n_go";
    case NodeChange::end: return "/n_end";
    case NodeChange::off: return "/n_off";
    case NodeChange::on: return "/n_on";
    case NodeChange::move: return "/n_move";
    case NodeChange::info: return "/n_info";
    }
    return {};
}

void notify(ReplyPort& port, const NodeEvent& event) {
    const std::array<ReplyArg, 7> args{event.id,   event.parent, event.previous, event.next, int32_t(event.is_group),
                                       event.head, event.tail};
    broadcast(port, address_of(event.change), std::span(args).first(event.is_group ? 7 : 5));
}

void notify(ReplyPort& port, const TriggerEvent& event) {
    const std::array<ReplyArg, 3> args{event.node, event.id, event.value};
    broadcast(port, "/tr", args);
}

void notify(ReplyPort& port, const NodeReplyEvent& event, std::span<const std::byte> rest) {
    const size_t values_bytes = size_t(event.count) * sizeof(float);
    if (event.count < 0 || rest.size() < values_bytes + event.address_bytes)
        return;
    std::vector<float> values(size_t(event.count));
    if (!values.empty())
        std::memcpy(values.data(), rest.data(), values_bytes);
    std::vector<ReplyArg> args{event.node, event.id};
    args.insert(args.end(), values.begin(), values.end());
    const std::string_view address(reinterpret_cast<const char*>(rest.data()) + values_bytes, event.address_bytes);
    broadcast(port, address, args);
}

void notify(ReplyPort& port, const MidiEvent& event) {
    const std::array<ReplyArg, 7> args{event.binding,          name_of(ControlEvent::Kind(event.kind)),
                                       int32_t(event.port),    int32_t(event.channel),
                                       int32_t(event.number),  event.value,
                                       ntp_seconds(event.time)};
    broadcast(port, "/midi", args);
}

std::string_view word_of(LinkEvent::What what) {
    switch (what) {
    case LinkEvent::What::tempo: return "tempo";
    case LinkEvent::What::playing: return "playing";
    case LinkEvent::What::jump: return "jump";
    case LinkEvent::What::force: return "force";
    }
    return {};
}

void tell(ReplyPort& port, const LinkEvent& event) {
    const std::array<ReplyArg, 4> args{word_of(event.what), event.value, event.quantum, ntp_seconds(event.time)};
    (void)port.send(to_endpoint(event.to.client), "/link_set", args);
}

/// Newlines before the end come from names and labels, and begin no line.
std::string_view line_of(std::span<const std::byte> bytes) {
    std::string_view text = text_of(bytes);
    if (text.ends_with('\n'))
        text.remove_suffix(1);
    return text;
}

void hand_on(EventSink& sink, const HandbackEvent& event) {
    switch (event.what) {
    case Handback::Kind::job: sink.job(static_cast<Command&>(*event.object)); break;
    case Handback::Kind::reply: sink.reply(static_cast<Command&>(*event.object)); break;
    case Handback::Kind::retired: sink.retired(static_cast<CommandBundle*>(event.object)); break;
    case Handback::Kind::release: sink.release(event.object); break;
    }
}

void dispatch(std::span<const std::byte> record, ReplyPort& port, EventSink& sink) {
    EventHeader header;
    if (!read(record, header))
        return;
    switch (header.kind) {
    case EventKind::handback:
        if (HandbackEvent event; read(record, event))
            hand_on(sink, event);
        break;
    case EventKind::node:
        if (NodeEvent event; read(record, event)) {
            sink.node_changed();
            notify(port, event);
        }
        break;
    case EventKind::trigger:
        if (TriggerEvent event; read(record, event))
            notify(port, event);
        break;
    case EventKind::node_reply:
        if (NodeReplyEvent event; read(record, event))
            notify(port, event, record.subspan(sizeof event));
        break;
    case EventKind::midi:
        if (MidiEvent event; read(record, event))
            notify(port, event);
        break;
    case EventKind::link:
        if (LinkEvent event; read(record, event))
            tell(port, event);
        break;
    case EventKind::print: sink.print(line_of(record.subspan(sizeof header))); break;
    case EventKind::piece: sink.piece(text_of(record.subspan(sizeof header))); break;
    case EventKind::complain: sink.complain(line_of(record.subspan(sizeof header))); break;
    case EventKind::poll: sink.poll(line_of(record.subspan(sizeof header))); break;
    case EventKind::late:
        if (LateEvent event; read(record, event))
            sink.late(event.seconds);
        break;
    case EventKind::completion:
        if (ReplyEvent event; read(record, event))
            sink.completion(record.subspan(sizeof event), to_endpoint(event.to.client));
        break;
    case EventKind::command_done:
        if (ReplyEvent event; read(record, event))
            sink.command_done(text_of(record.subspan(sizeof event)), to_endpoint(event.to.client));
        break;
    case EventKind::command_failed:
        if (ReplyEvent event; read(record, event))
            sink.command_failed(text_of(record.subspan(sizeof event)), to_endpoint(event.to.client));
        break;
    case EventKind::packet:
        if (ReplyEvent event; read(record, event))
            sink.packet(record.subspan(sizeof event), event.to);
        break;
    }
}

} // namespace

int pump_events(RecordRing& events, ReplyPort& port, EventSink& sink, int most) {
    int count = 0;
    for (auto record = events.peek(); !record.empty() && count < most; record = events.peek()) {
        try {
            dispatch(record, port, sink);
        } catch (const std::bad_alloc&) {
            sink.lost();
        }
        events.pop();
        ++count;
    }
    return count;
}

} // namespace scs::osc

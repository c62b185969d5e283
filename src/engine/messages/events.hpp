// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "engine/messages/reply-to.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

// Events from the data loop to the OSC thread: records in the ring that Engine::events() returns. Each begins with an
// EventHeader. Handbacks are never lost; other events are dropped and counted when the ring is full.

enum class EventKind : uint32_t {
    handback,     ///< HandbackEvent
    node,         ///< NodeEvent
    trigger,      ///< TriggerEvent
    node_reply,   ///< NodeReplyEvent and the data that follows it
    midi,         ///< MidiEvent
    link,         ///< LinkEvent
    print,        ///< EventHeader, then a line, which may have names of clients in it; a newline at its end isn't of it
    piece,        ///< the same, but the line may go on with the next piece
    complain,     ///< as print, of which the log may leave some out
    poll,         ///< the same with what Poll and Dpoll print, of which there may be more
    late,         ///< LateEvent
    completion,   ///< ReplyEvent, then an OSC packet that a plugin's command asks to be performed now (offline)
    command_done, ///< ReplyEvent, then the name of a plugin's command that has been carried out
    command_failed, ///< ReplyEvent, then what went wrong with a plugin's command
    packet,         ///< ReplyEvent, then a packet that a plugin sends to a client
};

struct EventHeader {
    EventKind kind;
    uint32_t bytes; ///< of the whole record
};

/// `job`: a Command for the worker; `reply`: a Command whose reply is to be sent, still owned by its bundle;
/// `retired`: a CommandBundle to delete; `release`: anything to delete (on the worker).
struct HandbackEvent {
    EventHeader header;
    Handback::Kind what;
    Handback* object;
};

enum class NodeChange : uint8_t { go, end, off, on, move, info };

/// Fields as in /n_go. An ID is -1 where there is no node. head and tail are meaningful for groups only.
struct NodeEvent {
    EventHeader header;
    NodeChange change;
    bool is_group;
    int32_t id, parent, previous, next, head, tail;
};

struct TriggerEvent {
    EventHeader header;
    int32_t node, id;
    float value;
};

/// SendReply: followed by `count` floats and then `address_bytes` characters.
struct NodeReplyEvent {
    EventHeader header;
    int32_t node, id;
    int32_t count;
    uint32_t address_bytes;
};

/// What a control port brought: the fields of a ControlEvent.
struct MidiEvent {
    EventHeader header;
    int32_t binding;
    uint8_t kind, port, channel, number;
    float value;
    uint64_t time; ///< NtpTime at which its frame is heard
};

/// What is asked of an Ableton Link session, for the client that told of it.
struct LinkEvent {
    enum class What : uint32_t { tempo, playing, jump, force };

    EventHeader header;
    What what;
    ReplyTo to;
    double value;   ///< beats a second; 0 or 1; the beat, of a jump
    double quantum; ///< of a jump
    uint64_t time;  ///< NtpTime from which on it counts
};

struct LateEvent {
    EventHeader header;
    double seconds; ///< how long ago the bundle was due
};

struct ReplyEvent {
    EventHeader header;
    ReplyTo to;
};

} // namespace scs

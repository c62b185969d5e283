// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/events.hpp"
#include "engine/rt/record-ring.hpp"
#include "osc/endpoint.hpp"

#include <climits>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace scs::osc {

/// Who gets what the engine hands back and says. [osc]
class EventSink {
public:
    virtual ~EventSink() = default;
    /// A command for the worker.
    virtual void job(Command&) noexcept = 0;
    /// A command that has something to answer. Its bundle still owns it.
    virtual void reply(Command&) = 0;
    /// A bundle whose commands are all done with: to be deleted.
    virtual void retired(CommandBundle*) noexcept = 0;
    /// Something out of use: to be deleted on the worker.
    virtual void release(Handback*) noexcept = 0;
    /// A line without its newline. Names in it may have any characters.
    virtual void print(std::string_view line) = 0;
    /// A node has come, gone, moved, or been run or paused.
    virtual void node_changed() noexcept {}
    /// Text of a plugin, whose line may go on with the next piece.
    virtual void piece(std::string_view text) = 0;
    /// As print() about a client's mistake, of which there may be too many for a log.
    virtual void complain(std::string_view line) { print(line); }
    /// The same about what Poll and Dpoll print.
    virtual void poll(std::string_view line) { print(line); }
    /// A bundle came that long after its time.
    virtual void late(double seconds) = 0;
    /// A packet that a plugin's command asks to be performed, as if it had come from `from`. Offline only.
    virtual void completion(std::span<const std::byte>, const Endpoint&) {}
    /// A plugin's command has been carried out: to be answered by /done.
    virtual void command_done(std::string_view name, const Endpoint& from) = 0;
    /// A plugin's command failed: to be answered by /fail, and told to the log.
    virtual void command_failed(std::string_view text, const Endpoint& from) = 0;
    /// A packet that a plugin sends to a client, on the data loop.
    virtual void packet(std::span<const std::byte> bytes, const ReplyTo& to) = 0;
    /// There was no memory to send or print what an event asks for: it is lost.
    virtual void lost() noexcept = 0;
};

/// [osc] Takes events out of the ring, at most `most`: notifications go to every client that is logged in, the others
/// to the sink. Returns how many it took.
int pump_events(RecordRing& events, ReplyPort&, EventSink&, int most = INT_MAX);

} // namespace scs::osc

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

/// What becomes of handbacks and of text. [osc]
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void job(Command&) noexcept = 0;
    virtual void reply(Command&) = 0;
    virtual void retired(Bundle*) noexcept = 0;
    virtual void release(Handback*) noexcept = 0;
    /// A line without its newline.
    virtual void print(std::string_view line) = 0;
    virtual void late(double seconds) = 0;
    /// A packet that a plugin's command asks to be performed, as if it had come from `from`.
    virtual void completion(std::span<const std::byte> packet, const Endpoint& from) = 0;
    /// That command has been carried out: to be answered by /done, after the completion's answers.
    virtual void command_done(std::string_view name, const Endpoint& from) = 0;
    /// There is no memory for what an event asks to be sent or printed: it is lost.
    virtual void lost() noexcept = 0;
};

/// [osc] Takes the events out of the ring, `most` of them: notifications go to every logged-in client, the rest to
/// the sink. Returns how many there were.
int pump_events(RecordRing& events, ReplyPort&, EventSink&, int most = INT_MAX);

} // namespace scs::osc

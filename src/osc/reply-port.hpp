// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/codec/reply-record.hpp"
#include "osc/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace scs {

namespace osc {
class Clients;
}

/// What a command's answer may do: the OSC thread's side of the server. In this namespace because the engine's Command
/// names it, without knowing what it is. [osc]
class ReplyPort {
public:
    virtual ~ReplyPort() = default;

    /// Sends one message. False if it is too long for the transport.
    virtual bool send(const osc::Endpoint& to, std::string_view address, std::span<const osc::ReplyArg> args) = 0;
    /// Sends each message of a record; false if any was too long.
    virtual bool send_record(const osc::Endpoint& to, std::span<const std::byte> record);
    virtual osc::Clients& clients() = 0;
    /// What /dumpOSC sets: 0 nothing, 1 text, 2 hex, 3 both.
    virtual void set_dump_mode(int mode) = 0;
    /// /quit has been carried out: its `/done` goes to `from` when nothing else is to be said any more.
    virtual void quit(const osc::Endpoint& from) = 0;

    /// `/done <name> [value]`
    void done(const osc::Endpoint& to, std::string_view name, std::optional<int32_t> value = {});
    /// `/fail <name> <text> [extra]`
    void fail(const osc::Endpoint& to, std::string_view name, std::string_view text, std::optional<int32_t> extra = {});
};

namespace osc {

/// How scsynth prints a reply that is a /fail; nothing for others. [osc]
std::optional<std::string> failure_line(std::string_view address, std::span<const ReplyArg> args);

} // namespace osc
} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scs::top {

/// The way to a server, by its Unix socket, UDP or TCP. Nothing waits but open(), for a second at most.
class Link {
public:
    /// Without `tcp`, a server of this machine is reached by its Unix socket, if it has one at the usual place, else by
    /// UDP. `password`: sent first, unless it is empty. An error is what the system says.
    static Result<Link> open(const std::string& host, int port, bool tcp, const std::string& password);

    /// To be polled for input.
    int fd() const { return socket_.get(); }
    /// False: nobody is there.
    bool send(std::span<const std::byte> packet);
    /// Hands over each message that has come whole. False: nobody is there any more, or it isn't OSC what they send.
    bool receive(const std::function<void(const osc::Message&)>&);

private:
    Link(Descriptor socket, bool stream) : socket_(std::move(socket)), is_stream_(stream) {}
    bool take_frames(const std::function<void(const osc::Message&)>&);

    Descriptor socket_;
    bool is_stream_;                ///< not UDP
    std::vector<std::byte> stream_; ///< what isn't whole yet
};

} // namespace scs::top

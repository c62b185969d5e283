// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scs::top {

/// The way to a server, by its Unix socket, UDP or TCP. Nothing waits but open(), for `connect_time` at most.
class Link {
public:
    static constexpr std::chrono::milliseconds connect_time{1000}; ///< that a server has for a connection

    /// Without `tcp`, a server of this machine is reached by its Unix socket, if it has one at the usual place, else by
    /// UDP. `password`: sent first, unless it is empty. An error is what the system says.
    static Result<Link> open(const std::string& host, int port, bool tcp, const std::string& password);
    /// The same, but doesn't wait for a connection by TCP: it is_connecting() until finish() says that it is made.
    static Result<Link> begin(const std::string& host, int port, bool tcp, const std::string& password);

    bool is_connecting() const { return is_connecting_; }
    /// To be called when the socket takes output, or has an error: sends the password. An error is what the system
    /// says.
    Result<bool> finish();

    /// To be polled for events().
    int fd() const { return socket_.get(); }
    /// POLLIN, or POLLOUT while it is_connecting().
    short events() const;
    /// False: nobody is there.
    bool send(std::span<const std::byte> packet);
    /// Hands over each message that has come whole. It reads a limited amount, so that others get their turn, too: the
    /// socket may still have some. False: nobody is there any more, or it isn't OSC what they send.
    bool receive(const std::function<void(const osc::Message&)>&);

private:
    Link(Descriptor socket, bool stream, std::string password = {})
        : socket_(std::move(socket)), is_stream_(stream), password_(std::move(password)) {}
    bool take_frames(const std::function<void(const osc::Message&)>&);

    Descriptor socket_;
    bool is_stream_; ///< not UDP
    bool is_connecting_ = false;
    std::string password_;          ///< until it is sent
    std::vector<std::byte> stream_; ///< what isn't whole yet
};

} // namespace scs::top

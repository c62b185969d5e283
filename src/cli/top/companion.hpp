// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/link.hpp"
#include "cli/top/server-options.hpp"
#include "cli/top/signals.hpp"
#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/reply-record.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace scs::top {

/// A program that works beside a server until SIGINT, SIGTERM or SIGHUP ends it, or the server is gone: what it does is
/// its owner's.
class Companion {
public:
    using Others = std::function<std::string()>;

    /// Goes to the server, and has this thread, and those that it begins, get no signal but by wait(): to be called
    /// before other libraries begin theirs. `command`: the word after pw-scsynth. `others`: which servers there are,
    /// in lines. Both, and `options`, must stay. An error is a sentence.
    static Result<std::unique_ptr<Companion>> open(const ServerOptions& options, const char* command,
                                                   const Others& others);

    /// Sends a message.
    void send(const char* address, std::span<const osc::ReplyArg>);
    /// Whether the server answers, within a second. If not, that ends it.
    bool answers();
    /// Waits until the server has sent something, `fd` (-1: none) has input or a signal has come, at most that many ms
    /// (below 0: as 0), and calls `take` for each of the server's messages.
    void wait(int fd, int longest, const std::function<void(const osc::Message&)>& take);
    /// Ends it; and so, with the server's reason, if this is its answer that it can't obey `address`.
    void fail(std::string why) { failure_ = Error{std::move(why)}; }
    bool fail_if_refused(const osc::Message&, const char* address);
    /// Nobody answers.
    void lose();
    /// Whether a signal, or a failure, has ended it.
    bool over() const { return ended_ || failure_; }
    /// How it ended: true by a signal, else why. By a signal `farewell` is called first, to send what is to be said
    /// last.
    Result<bool> end(const std::function<void()>& farewell = {});

private:
    Companion(const ServerOptions& options, const char* command, const Others& others, Link link)
        : options_(options), command_(command), others_(others), link_(std::move(link)) {}

    bool sync();

    const ServerOptions& options_;
    const char* const command_;
    const Others& others_;
    Link link_;
    const Signals signals_{endings};
    std::optional<Error> failure_;
    bool ended_ = false;

    static constexpr int endings[] = {SIGINT, SIGTERM, SIGHUP};
};

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/engine.hpp"
#include "osc/driver.hpp"
#include "osc/server-settings.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace scs::osc {

/// Packets seen since the start. received = decoded + rejected, once idle. refused: those, and TCP connections, of
/// users who aren't obeyed.
struct PacketCounters {
    std::atomic<uint64_t> received{0}, decoded{0}, rejected{0}, refused{0}, kernel_dropped{0};
};

/// An engine with an OSC socket, the thread that serves it and the worker that runs slow jobs.
class Server {
public:
    /// [main] Binds the socket and starts the threads; at most a few ms. An error names the port that is taken.
    /// Plugins, pool and SynthDefs load on the worker; until then engine() is null and commands wait.
    static Result<std::unique_ptr<Server>> start(ServerSettings);
    /// [main] Stops the threads, waiting at most 200 ms; a worker stuck in a file is left behind with what it
    /// uses. No thread may be in the engine any more.
    ~Server();

    /// [any] The engine once it is ready, else null. Never goes back to null in the server's life.
    Engine* engine() noexcept;
    /// [any] The port that it listens on.
    uint16_t port() const noexcept;
    const PacketCounters& counters() const noexcept;
    /// [rt] What is told of the graph's driver; to be written in each cycle.
    Driver& driver() noexcept;
    /// [any] From now on the server isn't heard: the next command that makes a synth calls ServerSettings::rouse, once.
    void rest() noexcept;
    /// [any but rt] A line for the log, and for whoever reads what the server prints.
    void warn(const std::string& text) noexcept;

private:
    struct Private;
    explicit Server(std::shared_ptr<Private>);
    std::shared_ptr<Private> p_;
};

} // namespace scs::osc

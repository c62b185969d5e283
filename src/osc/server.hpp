// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/engine.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace scs::osc {

/// Settings of the server around an engine. Names as in the scsynth.* properties.
struct ServerSettings {
    Settings engine;
    uint16_t port = 57110;           ///< UDP and TCP; 0: any free one
    bool tcp = true;                 ///< whether to listen on TCP, too
    std::string bind = "127.0.0.1";  ///< address to listen on
    int max_logins = 4;              ///< clients that may be notified at once, 1 … 1024
    std::string password;            ///< what TCP clients send first, at most 31 bytes; empty: nothing
    std::string synthdef_path;       ///< colon-separated folders of .scsyndef files
    bool load_synthdefs = true;      ///< load them at start
    std::string restricted_path;     ///< file commands may only touch what is below; empty: anything
    bool shared_memory = true;       ///< whether to open the segment by which local clients see buses and scopes
    bool allow_quit = true;          ///< whether /quit ends the node, or only frees everything
    std::string print_to;            ///< path of a PrintSocket that gets all but debug lines; empty: only the log

    /// [osc, worker] One line for the log, without a newline. Must be thread-safe and must not block for long. output:
    /// what the server was asked to print (Poll, /dumpOSC …), to be shown wherever warnings are. If `print_to` is
    /// connected, output and info go only there.
    enum class Level { error, warning, output, info, debug };
    std::function<void(Level, const std::string&)> log;
    /// [osc] Wakes the data loop so that it calls Engine::run_idle(); called only when no cycle has run for 50 ms.
    std::function<void()> wake;
    /// [osc] /quit has been answered and the server has stopped listening: the node may go.
    std::function<void()> quit;
    /// [osc, worker] The state changed: "starting" → "running" or "failed: <why>"; later "quit".
    std::function<void(const std::string& state)> state;
};

/// Packets seen since the start. received = decoded + rejected, once idle.
struct PacketCounters {
    std::atomic<uint64_t> received{0}, decoded{0}, rejected{0}, kernel_dropped{0};
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

private:
    struct Private;
    explicit Server(std::shared_ptr<Private>);
    std::shared_ptr<Private> p_;
};

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loops.hpp"

#include <spa/node/io.h>
#include <spa/node/node.h>
#include <spa/param/latency-utils.h>
#include <spa/support/plugin.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace scs::test {

class HostNode;

/// A host for SPA nodes like the PipeWire daemon: it opens the library, gives it loops and a log, negotiates with
/// its nodes and calls them from a data thread, with a clock that the test decides on.
class Host {
public:
    /// Opens the library and starts the data thread. Throws if it can't.
    explicit Host(const std::string& library);
    /// All nodes must be gone.
    ~Host();

    using Dict = std::vector<std::pair<std::string, std::string>>;
    /// Makes a node; null if its init failed, then error() says how.
    std::unique_ptr<HostNode> create(const Dict& info);
    int error() const { return error_; }

    /// Runs one cycle of all nodes that are started, in the order they were made, and moves the clock on.
    /// Returns the smallest status that a process() gave.
    int cycle(uint32_t frames);
    /// `count` cycles.
    int cycles(int count, uint32_t frames);

    MainLoop& main() { return main_; }
    Loop& data() { return data_; }
    Log& log() { return log_; }
    /// What nodes see of time; change it between cycles.
    spa_io_position& position() { return position_; }
    /// Called on the data thread around each process(); for guards.
    std::function<void()> before_process, after_process;
    /// A symbol of the library.
    void* symbol(const char* name) const;

private:
    friend class HostNode;
    void* library_ = nullptr;
    const spa_handle_factory* factory_ = nullptr;
    int error_ = 0;
    Log log_;
    MainLoop main_;
    Loop data_;
    std::thread thread_;
    bool stop_ = false; ///< the data thread's
    spa_io_position position_{};
    std::vector<HostNode*> nodes_;
};

/// A node in the host, with what it has told, and the far ends of its links.
class HostNode {
public:
    ~HostNode();

    /// Properties and ports as last told.
    std::map<std::string, std::string> properties;
    struct PortInfo {
        uint64_t flags = 0;
        std::map<std::string, std::string> properties;
    };
    std::map<uint32_t, PortInfo> ports[2];
    int infos = 0; ///< node infos so far

    /// Gives the port a format, `buffers` buffers of `frames` each and the area to exchange them.
    int link(spa_direction, uint32_t port, uint32_t frames = 8192, uint32_t buffers = 1);
    void unlink(spa_direction, uint32_t port);
    int command(uint32_t id);
    /// Start and Pause.
    void start();
    void pause();
    /// As PipeWire does it: pauses, takes all formats, sends the command.
    void suspend();
    /// Whether the node is told of the clock (from the start it is).
    void give_position(bool);

    /// All that has come out of a linked output, in a row.
    std::vector<float>& output(uint32_t port) { return outputs_[port]; }
    /// What goes into a linked input: called with the position of each cycle's first frame.
    std::function<void(uint32_t port, uint64_t position, float* samples, uint32_t frames)> feed;
    /// Marks the inputs' chunks as empty instead.
    bool feed_empty = false;

    spa_node* spa() { return node_; }
    /// The params of an id, as copies. An error ends them; it is in `error`.
    std::vector<std::vector<uint8_t>> params(uint32_t id, int* error = nullptr);
    std::vector<std::vector<uint8_t>> port_params(spa_direction, uint32_t port, uint32_t id, int* error = nullptr);
    /// The latency that the port tells in that direction.
    spa_latency_info latency(spa_direction port_direction, uint32_t port, spa_direction latency_direction);
    int set_latency(spa_direction, uint32_t port, const spa_latency_info&);
    int set_format(spa_direction, uint32_t port, uint32_t audio_format);

    uint64_t xruns = 0; ///< reported so far; read between cycles

private:
    friend class Host;
    struct Link;
    HostNode(Host&, spa_handle*);
    int start_up();
    void before_cycle(uint32_t frames, uint64_t position);
    void after_cycle(uint32_t frames);
    Link* find(spa_direction, uint32_t port);

    Host& host_;
    spa_handle* handle_;
    spa_node* node_ = nullptr;
    spa_hook listener_{};
    std::vector<std::unique_ptr<Link>> links_;
    std::map<uint32_t, std::vector<float>> outputs_;
    std::vector<std::vector<uint8_t>>* collected_ = nullptr;
    bool started_ = false; ///< the data thread's
    int last_status_ = 0;
};

} // namespace scs::test

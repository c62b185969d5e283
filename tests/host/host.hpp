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

/// A host for SPA nodes, like the PipeWire daemon. It opens the library, gives it loops and a log, negotiates with its
/// nodes and calls them from a data thread. The test sets the clock.
class Host {
public:
    /// Opens the library and starts the data thread. Throws if it can't.
    explicit Host(const std::string& library);
    /// All nodes must have been destroyed.
    ~Host();

    using Dict = std::vector<std::pair<std::string, std::string>>;
    /// Makes a node. Returns null if its init failed; error() has the error.
    std::unique_ptr<HostNode> create(const Dict& info);
    int error() const { return error_; }

    /// Runs a cycle of all started nodes, in the order in which they were made, and advances the clock. Returns the
    /// lowest status of a process().
    int cycle(uint32_t frames);
    /// Runs `count` cycles.
    int cycles(int count, uint32_t frames);

    MainLoop& main() { return main_; }
    Loop& data() { return data_; }
    Log& log() { return log_; }
    /// The time that nodes see; may be changed between cycles.
    spa_io_position& position() { return position_; }
    /// Called on the data thread around each process(); for guards.
    std::function<void()> before_process, after_process;
    /// A symbol of the library.
    void* symbol(const char* name) const;

private:
    friend class HostNode;
    void* library_ = nullptr;
    void trust(spa_handle_factory_enum_func_t enumerate, uint32_t index);

    const spa_handle_factory* factory_ = nullptr;
    std::shared_ptr<spa_handle> trust_;
    int error_ = 0;
    Log log_;
    MainLoop main_;
    Loop data_;
    std::thread thread_;
    bool stop_ = false; ///< the data thread's
    spa_io_position position_{};
    std::vector<HostNode*> nodes_;
};

/// A node in the host, the information it has published, and the other ends of its links.
class HostNode {
public:
    ~HostNode();

    /// Properties and ports as last published.
    std::map<std::string, std::string> properties;
    struct PortInfo {
        uint64_t flags = 0;
        std::map<std::string, std::string> properties;
    };
    std::map<uint32_t, PortInfo> ports[2];
    int infos = 0; ///< node infos so far

    /// Gives the port a format, `buffers` buffers of `frames` frames each, and the area through which they are
    /// exchanged.
    int link(spa_direction, uint32_t port, uint32_t frames = 8192, uint32_t buffers = 1);
    /// The same for a control input, with a buffer of that many bytes.
    int link_control(uint32_t port, uint32_t bytes = 32768) { return link_control(SPA_DIRECTION_INPUT, port, bytes); }
    /// The same for a control port of that direction.
    int link_control(spa_direction, uint32_t port, uint32_t bytes);
    void unlink(spa_direction, uint32_t port);
    int command(uint32_t id);
    /// Send the commands Start and Pause.
    void start();
    void pause();
    /// As PipeWire does: pauses, clears all formats, sends Suspend.
    void suspend();
    /// Gives the node the clock, or takes it away. It has it from the start.
    void give_position(bool);

    /// Everything that a linked output has put out so far.
    std::vector<float>& output(uint32_t port) { return outputs_[port]; }
    /// What a control output has sent.
    struct Sent {
        size_t frame; ///< from the first cycle with the link on
        uint32_t type;
        std::vector<uint8_t> body;
    };
    std::vector<Sent>& sent(uint32_t port) { return sent_[port].events; }
    /// Fills a linked input; called each cycle with the position of its first frame.
    std::function<void(uint32_t port, uint64_t position, float* samples, uint32_t frames)> feed;
    /// Fills a linked control input; returns how many of the `size` bytes it has used.
    std::function<size_t(uint32_t port, uint8_t* bytes, size_t size)> feed_control;
    /// If set, the inputs' chunks are marked as empty instead.
    bool feed_empty = false;

    spa_node* spa() { return node_; }
    /// Copies of the params of an id. Stops at an error, and stores it in `error`.
    std::vector<std::vector<uint8_t>> params(uint32_t id, int* error = nullptr);
    std::vector<std::vector<uint8_t>> port_params(spa_direction, uint32_t port, uint32_t id, int* error = nullptr);
    /// The latency that the port publishes for that direction.
    spa_latency_info latency(spa_direction port_direction, uint32_t port, spa_direction latency_direction);
    int set_latency(spa_direction, uint32_t port, const spa_latency_info&);
    int set_format(spa_direction, uint32_t port, uint32_t audio_format);

    uint64_t xruns = 0; ///< reported so far; read between cycles

private:
    friend class Host;
    struct Link;
    HostNode(Host&, spa_handle*);
    int start_up();
    int take(std::unique_ptr<Link>);
    void before_cycle(uint32_t frames, uint64_t position);
    void after_cycle(uint32_t frames);
    void read_sent(Link&, uint32_t frames);
    Link* find(spa_direction, uint32_t port);

    Host& host_;
    spa_handle* handle_;
    spa_node* node_ = nullptr;
    spa_hook listener_{};
    std::vector<std::unique_ptr<Link>> links_;
    std::map<uint32_t, std::vector<float>> outputs_;
    struct SentEvents {
        size_t frames = 0;
        std::vector<Sent> events;
    };
    std::map<uint32_t, SentEvents> sent_;
    std::vector<std::vector<uint8_t>>* collected_ = nullptr;
    bool started_ = false; ///< the data thread's
    int last_status_ = 0;
};

} // namespace scs::test

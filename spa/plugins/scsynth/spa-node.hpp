// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bridge.hpp"
#include "cycle.hpp"
#include "ports.hpp"
#include "settings.hpp"
#include "unheard.hpp"
#include "volume.hpp"

#include <spa/node/node.h>
#include <spa/support/loop.h>
#include <spa/support/thread.h>
#include <spa/utils/hook.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace scs::spa {

/// What the host lends to a node. The log may be missing.
struct Support {
    spa_log* log = nullptr;
    spa_loop* data_loop = nullptr;
    spa_loop_utils* main_utils = nullptr;
    spa_thread_utils* thread_utils = nullptr; ///< null: there is none
};

/// The methods that the host calls a SpaNode through.
extern const spa_node_methods node_methods;

/// A server as a node of the graph. Everything is called on the main loop, except for the cycle's process().
/// Methods return 0 or a negative errno, as their namesakes in spa/node/node.h.
class SpaNode {
public:
    SpaNode(const Support&, NodeSettings);
    ~SpaNode();
    SpaNode(const SpaNode&) = delete;
    SpaNode& operator=(const SpaNode&) = delete;

    /// [main] Starts the server and enters the data loop. Takes a few ms.
    int start();
    /// [main] A sentence that says why start() failed, if the number that it returned doesn't.
    const std::string& failure() const { return failure_; }
    /// [main] Leaves the data loop and stops the server, in at most 200 ms. If it fails the node must not be
    /// deleted, as the data loop may still call it.
    int stop();

    Cycle& cycle() noexcept { return cycle_; }

    int add_listener(spa_hook*, const spa_node_events*, void* data);
    int set_callbacks(const spa_node_callbacks*, void* data);
    int sync(int seq);
    int enum_params(int seq, uint32_t id, uint32_t start, uint32_t num, const spa_pod* filter);
    int set_param(uint32_t id, uint32_t flags, const spa_pod*);
    int set_io(uint32_t id, void* data, size_t size);
    int send_command(const spa_command*);
    int port_enum_params(int seq, spa_direction, uint32_t port, uint32_t id, uint32_t start, uint32_t num,
                         const spa_pod* filter);
    int port_set_param(spa_direction, uint32_t port, uint32_t id, uint32_t flags, const spa_pod*);
    int port_use_buffers(spa_direction, uint32_t port, uint32_t flags, spa_buffer**, uint32_t count);
    int port_set_io(spa_direction, uint32_t port, uint32_t id, void* data, size_t size);
    int port_reuse_buffer(uint32_t port, uint32_t buffer);

private:
    enum ParamSlot { prop_info, props, process_latency, io, format, slots };

    template <class F>
    int on_data_loop(F&&);
    template <class Build>
    int enumerate(int seq, uint32_t id, uint32_t start, uint32_t num, const spa_pod* filter, Build&&);
    void emit_param(int seq, const spa_result_node_params&);

    int start_server();
    int enter_loops();
    /// [rt] Outside any cycle.
    void guard_data_loop() noexcept;
    void call(void (SpaNode::*action)()) noexcept;
    void on_news();
    void on_timer();
    /// Whether the devices may sleep; `roused`: they are needed now.
    bool set_idle(bool roused);
    /// Whether synths play that nobody hears; says so after a while.
    bool set_unheard();
    /// Whether the policy is to link the node.
    bool links_itself() const;
    /// Tells the host what has changed.
    void tell();
    void remove_ports();

    bool set_property(const std::string& key, std::string value);
    bool set_counters();
    /// Whether the engine may have another rate than the graph.
    bool resamples() const;
    bool set_resampling();
    int port_count() const;
    bool rate_in_use() const;
    void emit_info(uint64_t change_mask);
    void emit_port(Port&, bool all);
    std::vector<Port>& ports(spa_direction direction) { return ports_[direction]; }
    Port* find_port(spa_direction, uint32_t id);

    /// Whether mixers list the node among the programs that play.
    bool is_stream() const;
    /// What the policy has to tell, in a Props param.
    void take_words(const spa_pod* params);
    void set_volume(Volume);
    int set_latency_offset(int64_t nsec);
    int update_latencies();
    spa_process_latency_info own_latency() const;

    Support support_;
    NodeSettings settings_;
    std::shared_ptr<Bridge> bridge_;
    Cycle cycle_;
    // What the host gave last; cycle_ has the same.
    const spa_io_position* position_ = nullptr;
    const spa_io_clock* clock_ = nullptr;
    const spa_io_position* displaced_position_ = nullptr; ///< what position_ was before the host gave the node's own
    std::array<std::vector<Port>, 2> ports_;
    spa_hook_list hooks_;
    int greetings_ = 0; ///< how many listeners, one within the other, are being told what there is
    std::vector<std::pair<std::string, std::string>> properties_;
    bool untold_ = false;    ///< whether properties have changed since the host was told
    int silent_seconds_ = 0; ///< since there was a synth
    Unheard unheard_;
    bool quits_ = false; ///< whether the ports are to be removed
    std::array<spa_param_info, slots> params_{};
    Volume volume_;
    int64_t latency_offset_nsec_ = 0;
    int reported_delay_ = 0;

    std::unique_ptr<osc::Server> server_;
    std::string failure_;
    int wake_fd_ = -1;
    spa_source idle_{};
    bool in_data_loop_ = false;
    bool guards_data_loop_ = false;        ///< the data loop's
    std::atomic<bool> lacks_timer_{false}; ///< to be told
    spa_source* news_ = nullptr;
    spa_source* timer_ = nullptr;
};

// ---- for the node's own files

/// The volume that a node is made with.
Volume volume_at_start(const NodeSettings&);

/// Runs `f` on the data loop and waits for it, so that it never races with a cycle.
template <class F>
int SpaNode::on_data_loop(F&& f) {
    const auto run = [](spa_loop*, bool, uint32_t, const void*, size_t, void* function) noexcept {
        (*static_cast<std::remove_reference_t<F>*>(function))();
        return 0;
    };
    return spa_loop_invoke(support_.data_loop, run, 0, nullptr, 0, true, &f);
}

} // namespace scs::spa

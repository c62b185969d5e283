// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/line-limit.hpp"
#include "osc/admission.hpp"
#include "osc/clients.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/engine-handover.hpp"
#include "osc/engine-watch.hpp"
#include "osc/event-pump.hpp"
#include "osc/line-pieces.hpp"
#include "osc/osc-command.hpp"
#include "osc/pending-bundles.hpp"
#include "osc/plugin-post.hpp"
#include "osc/quitting.hpp"
#include "osc/reply-port.hpp"
#include "osc/server-callbacks.hpp"
#include "osc/server.hpp"
#include "osc/tcp-port.hpp"
#include "osc/udp-socket.hpp"
#include "osc/waiting-datagrams.hpp"
#include "osc/wakeup.hpp"
#include "osc/worker.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace scs::osc {

/// The OSC thread: packets in, commands to the engine, its events out. [osc], made on [main].
class OscLoop final : public ReplyPort, private EventSink {
public:
    OscLoop(UdpSocket, TcpPort, Admission, Services&, ServerCallbacks&, Worker&, Wakeup&, PacketCounters&);
    ~OscLoop() override;

    uint16_t port() const noexcept { return port_; }
    /// Serves until stop().
    void run();
    /// [any]
    void stop();

    /// [any] Where what plugins say goes.
    const PluginOutlet& outlet() const noexcept { return post_; }
    /// Whether watch_senders() is to be run, on a thread of its own, until end_watch(). [any]
    bool needs_watch() const noexcept { return admission_.needs_watch(); }
    void watch_senders() {
        admission_.watch_senders([this] { wakeup_.ring(); });
    }
    void end_watch() noexcept { admission_.end_watch(); }

    /// [any but rt] Plugins say nothing any more.
    void end_post() noexcept { post_.end(); }

    /// [worker] The engine, or another one, is there; `first`, which may be null, runs before everything else.
    void engine_ready(Engine&, std::unique_ptr<CommandBundle> first);
    /// [worker] There will be no engine: every command is answered with the reason.
    void engine_failed(std::string why) noexcept;

    bool send(const Endpoint&, std::string_view address, std::span<const ReplyArg>) override;
    Clients& clients() override { return clients_; }
    void set_dump_mode(int mode) override { dump_mode_ = mode; }
    void quit(const Endpoint& from) override;

private:
    using Level = ServerSettings::Level;
    using Clock = std::chrono::steady_clock;

    // Events from the engine.
    void job(Command&) noexcept override;
    void reply(Command&) override;
    void retired(CommandBundle*) noexcept override;
    void release(Handback*) noexcept override;
    void print(std::string_view line) override { callbacks_.log(Level::output, std::string(line)); }
    void complain(std::string_view line) override { log_limited(failures_, Level::output, std::string(line)); }
    void poll(std::string_view line) override { log_limited(polls_, Level::output, std::string(line)); }
    void late(double seconds) override;
    void node_changed() noexcept override { services_.keeper.note_change(); }
    void piece(std::string_view text) override;
    void command_done(std::string_view name, const Endpoint& from) override;
    void command_failed(std::string_view text, const Endpoint& from) override;
    void packet(std::span<const std::byte> bytes, const ReplyTo& to) override;
    void lost() noexcept override;

    /// Whether stop() was called. Its caller waits for the thread to end, so nobody is answered any more.
    bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }
    /// Does what there is to do now, then sleeps.
    void run_once();
    /// False: there was no memory for the action. What it was about is lost, and the daemon goes on.
    template <class F>
    bool if_memory_lasts(F&& action) noexcept;

    /// Prints the lines of a dump of a packet.
    void print_dump(std::string_view text);
    void receive();
    /// Datagrams of senders of whom it wasn't known whether they are obeyed.
    void receive_waiting();
    void receive(const UdpSocket::Datagram&);
    /// Whether there is room for another packet of a TCP client now. If not it is left waiting, instead of being
    /// refused.
    bool takes_more_of(TcpPeer) const;
    size_t free_bytes() const noexcept;
    std::shared_ptr<const Packet> take_in(std::span<const std::byte>);
    void take_packet(std::span<const std::byte>, const Endpoint& from);
    void take_bundles(const std::shared_ptr<const Packet>&, const Endpoint& from);
    bool has_room_for(const Packet&, const Endpoint& from) const;
    void refuse(const Packet&, const Endpoint& to, std::string_view why);

    /// Makes the completion that a plugin's command asks for.
    void add_completion(Command&);
    /// Sends and prints what plugins have left for that.
    void deliver_post();
    void forward(uint64_t client, std::span<const std::byte> packet);

    /// Takes over the engine that the worker has made, or lets go of a broken one.
    void update_engine();
    void submit_waiting();
    /// Has the tree copied if it is time for that, and jobs done that waited for it.
    void copy_tree();
    /// Whether the data loop has something of ours to do now.
    bool awaits_data_loop() const noexcept;
    /// Whether it has, or has just had, results of jobs to take.
    void watch_results();
    std::chrono::microseconds time_to_sleep();
    std::chrono::microseconds sleep_for_events();
    void sleep(std::chrono::microseconds);

    void log_limited(LineLimit&, Level, std::string line);
    bool transmit(const Endpoint&, std::span<const std::byte>);
    /// Whether the packet asks for the status alone, as its sender has done before while there was no engine.
    bool asks_again(const Packet&, const Endpoint& from);
    /// Answers the /quit, then ends if it may.
    void finish_quit();
    /// Stops listening, and says that the node may go.
    void close();

    UdpSocket socket_;
    TcpPort tcp_;
    TcpPort::Events tcp_events_;
    Admission admission_;
    WaitingDatagrams waiting_;
    uint16_t port_;
    Services& services_;
    ServerCallbacks& callbacks_;
    Worker& worker_;
    Wakeup& wakeup_;
    PacketCounters& counters_;
    PluginPost post_;
    LinePieces pieces_; ///< source 0: the data loop
    Clients clients_;
    ReplyComposer composer_;
    int dump_mode_ = 0;
    // Clients can cause as many of these as they like.
    LineLimit warnings_{5, std::chrono::seconds(1)};
    LineLimit losses_{20, std::chrono::seconds(1)};
    LineLimit failures_{50, std::chrono::milliseconds(100)}; ///< what pw-scsynth shows of their own mistakes
    Level failure_level_ = Level::info;
    LineLimit late_lines_{50, std::chrono::milliseconds(100)};
    LineLimit polls_{1000, std::chrono::milliseconds(1)}; ///< users look for each of these, as long as they can
    LineLimit plugin_losses_{5, std::chrono::seconds(1)};
    const std::string out_of_memory_ = "out of memory: an OSC packet is lost"; ///< made while there is some

    std::atomic<bool> stop_{false};
    EngineHandover handover_;
    Engine* engine_ = nullptr; ///< null: there is none now
    PendingBundles bundles_;
    std::vector<Endpoint> status_waits_; ///< for an engine
    EngineWatch watch_;
    uint64_t copies_seen_ = 0; ///< of the tree
    Clock::time_point engine_began_{};
    bool settled_ = false;              ///< the worker has heard that the engine didn't break soon
    uint64_t results_seen_ = 0;         ///< of the worker
    Clock::time_point results_until_{}; ///< an event may follow from one
    Quitting quitting_;
};

} // namespace scs::osc

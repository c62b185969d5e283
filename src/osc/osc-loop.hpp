// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/clients.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/event-pump.hpp"
#include "osc/host.hpp"
#include "osc/osc-command.hpp"
#include "osc/reply-port.hpp"
#include "osc/server.hpp"
#include "osc/tcp-port.hpp"
#include "osc/udp-socket.hpp"
#include "osc/wakeup.hpp"
#include "osc/worker.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace scs::osc {

/// The OSC thread: packets in, commands to the engine, its events out. [osc], made on [main].
class OscLoop final : public ReplyPort, private EventSink {
public:
    OscLoop(UdpSocket, TcpPort, Services&, Host&, Worker&, Wakeup&, PacketCounters&);
    ~OscLoop() override;

    uint16_t port() const noexcept { return port_; }
    /// Serves until stop().
    void run();
    /// [any]
    void stop();

    /// [worker] The engine, or another one, is there; `first`, which may be null, runs before everything else.
    void engine_ready(Engine&, std::unique_ptr<scs::Bundle> first);
    /// [worker] There will be no engine: commands are answered with this.
    void engine_failed(std::string why) noexcept;

    bool send(const Endpoint&, std::string_view address, std::span<const ReplyArg>) override;
    Clients& clients() override { return clients_; }
    void set_dump_mode(int mode) override { dump_mode_ = mode; }
    /// Clients send more right behind a /quit, sclang a /sync: what has come by then is answered before the end. But
    /// after a second one nothing is, not even by a server that stays: sclang, about to boot one, tells whatever answers
    /// to quit, again and again.
    void quit() override;

private:
    using Clock = std::chrono::steady_clock;
    using Milliseconds = std::chrono::milliseconds;

    // What the engine hands back.
    void job(Command&) noexcept override;
    void reply(Command&) override;
    void retired(scs::Bundle*) noexcept override;
    void release(Handback*) noexcept override;
    void print(std::string_view line) override;
    void late(double seconds) override;
    void completion(std::span<const std::byte> packet, const Endpoint& from) override;
    void command_done(std::string_view name, const Endpoint& from) override;
    void lost() noexcept override;

    /// Whether stop() was called: whoever did waits for the end, so nobody is answered any more.
    bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }
    /// What there is to do now.
    void turn();
    void receive();
    bool takes_tcp() const;
    /// What an action lacks memory for is lost, and the daemon goes on: false.
    template <class F>
    bool if_memory_lasts(F&& action) noexcept;
    std::shared_ptr<const Packet> take_in(std::span<const std::byte>);
    void take_packet(std::span<const std::byte>, const Endpoint& from);
    bool has_room_for(const Packet&) const;
    void take_bundles(const std::shared_ptr<const Packet>&, const Endpoint& from);
    void refuse(const Packet&, const Endpoint& to, std::string_view why);
    void refuse_waiting();
    void submit_waiting();
    void note_submitted(NtpTime);
    void wake_if_stuck();
    /// Forgets a broken engine and what is with it; the worker makes another one.
    void abandon_engine();
    /// Whether the data loop has something of ours to do now.
    bool awaits_engine() const;
    /// Whether nothing is under way but what waits for its time.
    bool is_idle() const;
    /// Stops listening, and says that the node may go.
    void close();
    std::chrono::microseconds wait_time();
    void wait(std::chrono::microseconds);
    void transmit(const Endpoint&, std::span<const std::byte>);

    UdpSocket socket_;
    TcpPort tcp_;
    TcpPort::Events tcp_events_;
    uint16_t port_;
    Services& services_;
    Host& host_;
    Worker& worker_;
    Wakeup& wakeup_;
    PacketCounters& counters_;
    Clients clients_;
    ReplyComposer composer_;
    int dump_mode_ = 0;
    const std::string out_of_memory_ = "out of memory: an OSC packet is lost"; ///< made while there is some

    std::atomic<bool> stop_{false};
    std::atomic<bool> failed_{false};
    std::atomic<Engine*> ready_{nullptr};
    std::string failure_;
    std::unique_ptr<scs::Bundle> first_;
    Engine* engine_ = nullptr;

    std::deque<std::unique_ptr<scs::Bundle>> waiting_; ///< decoded, not yet with the engine
    std::size_t in_flight_ = 0;                   ///< with the engine
    std::size_t immediate_ = 0;                   ///< of these, those that wait for no time
    std::multiset<NtpTime> due_;                  ///< the times of the others
    std::size_t scheduled_ = 0;                   ///< waiting or with the engine, for a time
    int open_jobs_ = 0;                           ///< with the worker or on the way back

    uint64_t seen_cycles_ = 0;
    Clock::time_point cycle_seen_ = Clock::now(); ///< when a cycle was last seen to have run
    Clock::time_point progress_ = Clock::now();   ///< when anything last came back
    bool synths_ran_ = false;
    Clock::time_point told_to_quit_{}; ///< the last time
    Clock::time_point silent_until_{}; ///< nothing is answered before
    std::optional<Clock::time_point> quits_until_; ///< after a /quit: when it closes at the latest
};

} // namespace scs::osc

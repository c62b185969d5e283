// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/osc-loop.hpp"

#include "engine/definitions/definitions.hpp"
#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "osc/codec/dump.hpp"
#include "osc/command-builder.hpp"
#include "osc/command-table.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <poll.h>
#include <thread>
#include <time.h>

namespace scs::osc {

namespace {

constexpr std::size_t most_bundles = Engine::most_bundles; ///< in flight and waiting
constexpr std::size_t most_scheduled = 8192; ///< of these, those for a later time: they may wait for years
constexpr int packets_a_turn = 64;
constexpr int events_a_turn = 1024; ///< the data loop may make them faster than they're sent
constexpr std::chrono::milliseconds last_words(100); ///< for what came right behind a /quit
constexpr std::chrono::seconds silence(1); ///< after a /quit that came so soon after another

NtpTime wall_clock() {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return ntp_from_unix(now.tv_sec, static_cast<uint32_t>(now.tv_nsec));
}

bool is_scheduled(const std::unique_ptr<scs::Bundle>& bundle) {
    return bundle->time != immediately;
}

std::string_view name_of(const Message& message) {
    if (!message.address.empty())
        return message.address;
    const CommandSpec* spec = find_command(message);
    return spec ? spec->name : "";
}

/// Not inlined: the caller's frame is one that a fault jumps back to.
[[gnu::noinline]] void compose(ReplyComposer& composer, std::string_view address, std::span<const ReplyArg> args,
                               Result<std::span<const std::byte>>& message) {
    message = composer.compose(address, args);
}

} // namespace

template <class F>
bool OscLoop::if_memory_lasts(F&& action) noexcept {
    try {
        action();
        return true;
    } catch (const std::bad_alloc&) {
        lost();
    } catch (const std::exception& error) {
        host_.log(Host::Level::error, error.what());
    }
    return false;
}

void OscLoop::lost() noexcept {
    host_.log(Host::Level::error, out_of_memory_);
}

OscLoop::OscLoop(UdpSocket socket, TcpPort tcp, Services& services, Host& host, Worker& worker, Wakeup& wakeup,
                 PacketCounters& counters)
    : socket_(std::move(socket)),
      tcp_(std::move(tcp)),
      port_(socket_.port()),
      services_(services),
      host_(host),
      worker_(worker),
      wakeup_(wakeup),
      counters_(counters),
      clients_(services.settings.max_logins) {
    services_.most_held = max_held * 3 / 4;
    tcp_events_.ready = [this] { return takes_tcp(); };
    tcp_events_.packet = [this](std::span<const std::byte> packet, TcpPeer from) {
        if_memory_lasts([&] { take_packet(packet, from); });
    };
    tcp_events_.closed = [this](TcpPeer peer, std::string_view why) {
        clients_.remove(peer);
        if (!why.empty())
            host_.log(Host::Level::warning, "a TCP client's connection is closed: " + std::string(why));
    };
}

OscLoop::~OscLoop() = default;

void OscLoop::stop() {
    stop_.store(true, std::memory_order_release);
    wakeup_.ring();
}

void OscLoop::engine_ready(Engine& engine, std::unique_ptr<scs::Bundle> first) {
    first_ = std::move(first);
    ready_.store(&engine, std::memory_order_release);
    wakeup_.ring();
}

void OscLoop::engine_failed(std::string why) noexcept {
    failure_ = std::move(why);
    failed_.store(true, std::memory_order_release);
    wakeup_.ring();
}

void OscLoop::run() {
    while (!stopping())
        if (!if_memory_lasts([this] { turn(); }))
            std::this_thread::sleep_for(Milliseconds(10)); // others may free some
}

void OscLoop::turn() {
    if (engine_ && engine_->status().broken.load(std::memory_order_acquire))
        abandon_engine();
    if (!engine_) {
        Engine* const ready = ready_.load(std::memory_order_acquire);
        if (ready && first_)
            waiting_.push_front(std::move(first_));
        engine_ = ready;
    }
    receive();
    if (quits_until_ && (is_idle() || Clock::now() >= *quits_until_))
        close();
    submit_waiting();
    const int events = engine_ ? pump_events(engine_->events(), *this, *this, events_a_turn) : 0;
    if (events > 0)
        progress_ = Clock::now();
    submit_waiting();
    wake_if_stuck();
    if (engine_)
        engine_->end_endless_code();
    wait(events < events_a_turn ? wait_time() : std::chrono::microseconds(0));
}

void OscLoop::abandon_engine() {
    services_.held = std::make_shared<std::atomic<std::size_t>>(0);
    engine_ = nullptr;
    ready_.store(nullptr, std::memory_order_release);
    in_flight_ = immediate_ = 0;
    due_.clear();
    scheduled_ = std::size_t(std::ranges::count_if(waiting_, is_scheduled));
    open_jobs_ = 0;
    worker_.abandon();
}

// ---- waiting

bool OscLoop::awaits_engine() const {
    const int jobs = worker_.jobs();
    return immediate_ > static_cast<std::size_t>(std::max(jobs, 0)) || open_jobs_ > jobs ||
           (engine_ && !waiting_.empty());
}

void OscLoop::wake_if_stuck() {
    if (!engine_)
        return;
    const Clock::time_point now = Clock::now();
    const uint64_t cycles = engine_->status().cycles.load(std::memory_order_relaxed);
    if (cycles != seen_cycles_ || !awaits_engine()) {
        seen_cycles_ = cycles;
        cycle_seen_ = now;
    } else if (now - cycle_seen_ >= Milliseconds(50)) {
        cycle_seen_ = now;
        host_.wake();
    }
}

bool OscLoop::is_idle() const {
    return waiting_.empty() && immediate_ == 0 && open_jobs_ == 0;
}

std::chrono::microseconds OscLoop::wait_time() {
    using namespace std::chrono_literals;
    if (quits_until_)
        return 1ms;
    if (!engine_)
        return 1s; // the worker rings when it has changed
    const bool synths_run = engine_->status().synths.load(std::memory_order_relaxed) > 0;
    const bool watched = !clients_.all().empty() && (synths_run || synths_ran_);
    // Without synths, bundles and jobs nothing comes from the engine but what was on its way.
    const bool quiet = in_flight_ == 0 && !synths_run && !synths_ran_ && Clock::now() - progress_ > 1s;
    synths_ran_ = synths_run;
    std::chrono::microseconds wait = watched ? 5ms : synths_run ? 50ms : quiet ? 1s : 100ms;
    if (awaits_engine())
        return Clock::now() - progress_ < 1s ? 1ms : 20ms;
    if (immediate_ > 0)
        wait = std::min<std::chrono::microseconds>(wait, 5ms);
    if (!due_.empty()) {
        // Once it is due it comes back within a cycle; if none runs, it waits for the next one.
        const double seconds = ntp_seconds_between(wall_clock(), *due_.begin());
        if (seconds > 0)
            wait = std::min(wait, std::chrono::microseconds(1000 + int64_t(std::min(seconds, 1.0) * 1e6)));
        else if (seconds > -0.2)
            wait = 1ms;
    }
    return wait;
}

void OscLoop::wait(std::chrono::microseconds time) {
    const int tcp = takes_tcp() ? tcp_.fd() : -1;
    std::array<pollfd, 3> fds{pollfd{wakeup_.fd(), POLLIN, 0}, pollfd{socket_.fd(), POLLIN, 0}, pollfd{tcp, POLLIN, 0}};
    const timespec timeout{time.count() / 1'000'000, time.count() % 1'000'000 * 1000};
    if (::ppoll(fds.data(), fds.size(), &timeout, nullptr) > 0 && fds[0].revents)
        wakeup_.clear();
}

// ---- in

void OscLoop::receive() {
    for (int n = 0; n < packets_a_turn && socket_.fd() >= 0 && !stopping(); ++n) {
        const auto datagram = socket_.receive();
        if (!datagram)
            break;
        if_memory_lasts([&] { take_packet(datagram->bytes, datagram->from); });
    }
    counters_.kernel_dropped.store(socket_.dropped(), std::memory_order_relaxed);
    if_memory_lasts([&] { tcp_.serve(tcp_events_); });
}

// TCP clients wait while much is under way, instead of being refused.
bool OscLoop::takes_tcp() const {
    const std::size_t now = waiting_.size() + immediate_;
    return now == 0 || (now <= most_bundles / 2 && *services_.held <= max_held / 2);
}

/// The packet, counted and held; null if it is malformed.
std::shared_ptr<const Packet> OscLoop::take_in(std::span<const std::byte> bytes) {
    struct Counted {
        PacketCounters& counters;
        bool decoded = false;
        ~Counted() { (decoded ? counters.decoded : counters.rejected).fetch_add(1, std::memory_order_relaxed); }
    } counted{counters_};
    counters_.received.fetch_add(1, std::memory_order_relaxed);
    if (dump_mode_ & 2)
        print(to_hex(bytes));
    auto decoded = decode(bytes);
    if (!decoded) {
        host_.log(Host::Level::debug, "OSC packet rejected: " + decoded.error());
        return {};
    }
    auto packet = hold(services_, std::move(decoded.value()));
    counted.decoded = true;
    return packet;
}

void OscLoop::take_packet(std::span<const std::byte> bytes, const Endpoint& from) {
    const auto packet = take_in(bytes);
    if (!packet)
        return;
    if (dump_mode_ & 1)
        if (const std::string text = to_text(*packet); !text.empty())
            print(text);
    take_bundles(packet, from);
}

void OscLoop::take_bundles(const std::shared_ptr<const Packet>& packet, const Endpoint& from) {
    if (failed_.load(std::memory_order_acquire)) {
        refuse(*packet, from, failure_);
    } else if (!has_room_for(*packet)) {
        refuse(*packet, from, "command queue full");
    } else {
        for (const Bundle& bundle : packet->bundles())
            if (!bundle.messages.empty()) {
                waiting_.push_back(make_bundle(services_, packet, bundle, from));
                scheduled_ += is_scheduled(waiting_.back());
            }
    }
}

bool OscLoop::has_room_for(const Packet& packet) const {
    const auto& bundles = packet.bundles();
    const auto later = std::size_t(
        std::ranges::count_if(bundles, [](const Bundle& bundle) { return !is_immediate(bundle.time); }));
    if (later > 0 && (scheduled_ + later > most_scheduled || *services_.held > max_held / 2))
        return false;
    return waiting_.size() + in_flight_ + bundles.size() <= most_bundles && *services_.held <= max_held;
}

void OscLoop::refuse(const Packet& packet, const Endpoint& to, std::string_view why) {
    for (const Message& message : packet.messages())
        fail(to, name_of(message), why);
}

void OscLoop::refuse_waiting() {
    for (; !waiting_.empty(); waiting_.pop_front())
        for (const Command* c = waiting_.front()->first; c; c = c->next)
            if (const auto* command = dynamic_cast<const OscCommand*>(c))
                fail(command->from(), name_of(command->message()), failure_);
}

void OscLoop::submit_waiting() {
    if (failed_.load(std::memory_order_acquire))
        refuse_waiting();
    while (engine_ && !waiting_.empty()) {
        if (immediate_ == 0 && open_jobs_ == 0)
            cycle_seen_ = progress_ = Clock::now();
        const NtpTime time = waiting_.front()->time;
        if (!engine_->submit(waiting_.front().get()))
            return;
        // The data loop may be done with it already: only the pointer is ours to drop.
        (void)waiting_.front().release();
        waiting_.pop_front();
        note_submitted(time);
    }
}

void OscLoop::note_submitted(NtpTime time) {
    ++in_flight_;
    if (time == immediately)
        ++immediate_;
    else
        if_memory_lasts([&] { due_.insert(time); }); // without it the loop only looks less precisely
}

// ---- what comes back

void OscLoop::job(Command& command) noexcept {
    if (dynamic_cast<OscCommand*>(&command))
        ++open_jobs_;
    worker_.add(&command);
}

void OscLoop::reply(Command& command) {
    if (const auto* ours = dynamic_cast<OscCommand*>(&command); ours && ours->worked())
        --open_jobs_;
    if (auto* answering = dynamic_cast<AnsweringCommand*>(&command))
        answering->answer(*this);
}

void OscLoop::retired(scs::Bundle* bundle) noexcept {
    --in_flight_;
    if (bundle->time == immediately) {
        --immediate_;
    } else {
        --scheduled_;
        if (const auto it = due_.find(bundle->time); it != due_.end())
            due_.erase(it);
    }
    delete bundle;
}

void OscLoop::release(Handback* object) noexcept {
    if (const auto* definition = dynamic_cast<Definition*>(object)) {
        const std::array<ReplyArg, 1> args{std::string_view(definition->program->name)};
        for (const Clients::Login& login : clients_.all())
            if_memory_lasts([&] { send(login.endpoint, "/d_removed", args); });
    }
    worker_.add(object);
}

void OscLoop::print(std::string_view line) {
    host_.log(Host::Level::output, std::string(line));
}

void OscLoop::late(double seconds) {
    if (services_.settings.engine.verbosity < 0)
        return;
    char text[64];
    std::snprintf(text, sizeof text, "late %.9f", seconds);
    host_.log(Host::Level::info, text);
}

void OscLoop::completion(std::span<const std::byte> bytes, const Endpoint& from) {
    auto packet = decode(bytes);
    if (packet)
        take_bundles(hold(services_, std::move(packet.value())), from);
    else
        host_.log(Host::Level::warning, "a plugin's completion message is malformed: " + packet.error());
}

void OscLoop::command_done(std::string_view name, const Endpoint& from) {
    waiting_.push_back(make_late_done(name, from));
}

// ---- out

void OscLoop::transmit(const Endpoint& to, std::span<const std::byte> bytes) {
    if (const auto* client = std::get_if<TcpPeer>(&to)) {
        tcp_.send(*client, bytes);
        return;
    }
    const auto* peer = std::get_if<UdpPeer>(&to);
    if (peer && !socket_.send(*peer, bytes))
        host_.log(Host::Level::debug, std::string("OSC reply not sent: ") + std::strerror(errno));
}

bool OscLoop::send(const Endpoint& to, std::string_view address, std::span<const ReplyArg> args) {
    if (Clock::now() < silent_until_)
        return true;
    if (stopping()) // a packet may be answered by hundreds of thousands, an event go to a thousand clients
        return true;
    if (const auto failure = failure_line(address, args))
        host_.log(Host::Level::info, *failure);
    if (std::holds_alternative<std::monostate>(to))
        return true;
    Result<std::span<const std::byte>> message = Error{};
    // liblo writes to memory that it didn't get.
    if (!FaultGuard::run([&] { compose(composer_, address, args, message); }))
        throw std::bad_alloc();
    if (!message) {
        host_.log(Host::Level::warning, "OSC reply not composed: " + message.error());
        return true;
    }
    if (std::holds_alternative<UdpPeer>(to) && message.value().size() > UdpSocket::max_message)
        return false;
    transmit(to, message.value());
    return true;
}

void OscLoop::quit() {
    clients_.clear();
    const Clock::time_point now = Clock::now();
    const bool again = now < told_to_quit_ + silence;
    told_to_quit_ = now;
    if (again)
        silent_until_ = now + silence;
    if (services_.settings.allow_quit)
        quits_until_ = again ? now : now + last_words;
}

void OscLoop::close() {
    quits_until_.reset();
    services_.shared_memory.close();
    socket_.close();
    tcp_.close();
    host_.state("quit");
    host_.quit();
}

} // namespace scs::osc

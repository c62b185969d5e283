// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/osc-loop.hpp"

#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/system-memory.hpp"
#include "osc/codec/dump.hpp"
#include "osc/command-builder.hpp"
#include "osc/command-table.hpp"
#include "osc/kept-folder.hpp"
#include "osc/reply-to.hpp"

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

constexpr int packets_at_once = 64;
constexpr int events_at_once = 1024; ///< the data loop may make them faster than they're sent
constexpr uint64_t of_data_loop = 0; ///< among the sources of lines

std::string_view name_of(const Message& message) {
    if (!message.address.empty())
        return message.address;
    const CommandSpec* spec = find_command(message);
    return spec ? spec->name : "";
}

/// Not inlined: a fault in it jumps back to the frame of its caller.
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
        callbacks_.log(Level::error, error.what());
    }
    return false;
}

void OscLoop::log_limited(LineLimit& limit, Level level, std::string line) {
    if (const auto passed = limit.pass(std::move(line)))
        callbacks_.log(level, *passed);
}

void OscLoop::lost() noexcept {
    if (losses_.pass())
        callbacks_.log(Level::error, out_of_memory_);
}

OscLoop::OscLoop(UdpSocket socket, TcpPort tcp, Admission admission, Services& services, ServerCallbacks& callbacks,
                 Worker& worker, Wakeup& wakeup, PacketCounters& counters)
    : socket_(std::move(socket)),
      tcp_(std::move(tcp)),
      admission_(std::move(admission)),
      port_(socket_.fd() >= 0 ? socket_.port() : tcp_.port()),
      services_(services),
      callbacks_(callbacks),
      worker_(worker),
      wakeup_(wakeup),
      counters_(counters),
      post_(wakeup),
      clients_(services.settings.max_logins) {
    services_.outlet = post_.number();
    services_.most_held = max_held * 3 / 4;
    admission_.report_to(counters.refused, [this](const std::string& line) { callbacks_.log(Level::warning, line); });
    tcp_events_.admits = [this](int connection) -> std::optional<bool> {
        const auto answer = admission_.admits(connection);
        return answer == Admission::Answer::later ? std::nullopt : std::optional(answer == Admission::Answer::yes);
    };
    tcp_events_.ready = [this](TcpPeer from) { return takes_more_of(from); };
    tcp_events_.packet = [this](std::span<const std::byte> packet, TcpPeer from) {
        if_memory_lasts([&] { take_packet(packet, from); });
    };
    tcp_events_.closed = [this](TcpPeer peer, std::string_view why) {
        clients_.remove(peer);
        if (!why.empty())
            log_limited(warnings_, Level::warning, "a TCP client's connection is closed: " + std::string(why));
    };
}

OscLoop::~OscLoop() = default;

void OscLoop::stop() {
    stop_.store(true, std::memory_order_release);
    wakeup_.ring();
}

void OscLoop::engine_ready(Engine& engine, std::unique_ptr<CommandBundle> first) {
    handover_.ready(engine, std::move(first));
    wakeup_.ring();
}

void OscLoop::engine_failed(std::string why) noexcept {
    handover_.fail(std::move(why));
    wakeup_.ring();
}

void OscLoop::run() {
    const FaultGuard::Watched watched(FaultGuard::Patience::much);
    while (!stopping())
        if (!if_memory_lasts([this] { run_once(); }))
            std::this_thread::sleep_for(std::chrono::milliseconds(10)); // others may free some
    services_.keeper.end_waiting();
    while (Handback* job = services_.keeper.take_ready())
        worker_.add(job);
}

void OscLoop::run_once() {
    update_engine();
    receive();
    if (quitting_.answers_now(Clock::now(), !bundles_.any_waiting() && bundles_.engine_is_idle()))
        finish_quit();
    submit_waiting();
    deliver_post();
    watch_results();
    const int events = engine_ ? pump_events(engine_->events(), *this, *this, events_at_once) : 0;
    SystemMemory::free_given_back();
    if (events > 0)
        watch_.note_event();
    submit_waiting();
    copy_tree();
    if (engine_ && watch_.is_stuck(engine_->status(), awaits_data_loop()))
        callbacks_.wake();
    if (const int32_t thread = engine_ ? watch_.stays_in_cycle(engine_->status()) : 0)
        FaultGuard::look_for_wait(thread); // the data loop, and so everybody's sound, may stand
    sleep(events < events_at_once && !tcp_.has_more() ? time_to_sleep() : std::chrono::microseconds(0));
}

// ---- the engine

void OscLoop::update_engine() {
    if (engine_ && engine_->status().broken.load(std::memory_order_acquire)) {
        // It and all that it holds are never touched again; the worker makes another one.
        services_.held = std::make_shared<std::atomic<size_t>>(0);
        engine_ = nullptr;
        handover_.withdraw();
        quitting_.give_up();
        bundles_.forget_submitted();
        services_.keeper.forget_engine();
        worker_.abandon();
    }
    if (!engine_) {
        engine_ = handover_.engine();
        engine_began_ = Clock::now();
        settled_ = false;
        if (engine_)
            status_waits_.clear();
        if (engine_)
            if (auto first = handover_.take_first())
                bundles_.push_front(std::move(first));
    }
}

void OscLoop::submit_waiting() {
    if (const std::string* why = handover_.failure())
        bundles_.refuse_waiting(*this, *why);
    while (engine_ && bundles_.any_waiting()) {
        if (bundles_.engine_is_idle())
            watch_.note_new_work();
        if (!bundles_.submit_first(*engine_))
            return;
    }
}

void OscLoop::copy_tree() {
    StateKeeper& keeper = services_.keeper;
    if (auto query = engine_ ? keeper.next_query(engine_->settings().control_buses, clients_, Clock::now()) : nullptr) {
        bundles_.push_back(std::move(query), {});
        keeper.note_asked();
        submit_waiting();
    }
    while (Handback* job = keeper.take_ready())
        worker_.add(job);
    const bool settles = engine_ && !settled_ && Clock::now() - engine_began_ > KeptFolder::soon;
    if (const uint64_t copies = keeper.copies(); copies != copies_seen_ || settles) {
        copies_seen_ = copies;
        settled_ |= settles;
        worker_.note_copy();
    }
}

bool OscLoop::awaits_data_loop() const noexcept {
    return bundles_.await_data_loop(worker_.jobs()) || Clock::now() < results_until_;
}

void OscLoop::watch_results() {
    constexpr std::chrono::milliseconds while_events_follow{50};
    const uint64_t returned = worker_.returned();
    const bool waiting = engine_ && engine_->has_results();
    if (!waiting && returned == results_seen_)
        return;
    if (Clock::now() >= results_until_)
        watch_.note_new_work();
    results_seen_ = returned;
    results_until_ = Clock::now() + while_events_follow;
}

std::chrono::microseconds OscLoop::time_to_sleep() {
    if (quitting_.is_pending())
        return std::chrono::milliseconds(1);
    if (!engine_)
        return std::chrono::seconds(1); // the worker rings when there is one
    if (pieces_.any())
        return std::min<std::chrono::microseconds>(LinePieces::patience, sleep_for_events());
    return sleep_for_events();
}

std::chrono::microseconds OscLoop::sleep_for_events() {
    const auto sleep = watch_.time_to_sleep(engine_->status(), bundles_, awaits_data_loop(), !clients_.all().empty());
    return std::min(sleep, services_.keeper.time_to_next(Clock::now()).value_or(sleep));
}

void OscLoop::sleep(std::chrono::microseconds time) {
    std::array<pollfd, 3> fds{pollfd{wakeup_.fd(), POLLIN, 0}, pollfd{socket_.fd(), POLLIN, 0},
                              pollfd{tcp_.fd(), POLLIN, 0}};
    const timespec timeout{time.count() / 1'000'000, time.count() % 1'000'000 * 1000};
    if (::ppoll(fds.data(), fds.size(), &timeout, nullptr) > 0 && fds[0].revents)
        wakeup_.clear();
}

// ---- in

void OscLoop::receive() {
    admission_.begin_turn();
    if_memory_lasts([this] { receive_waiting(); });
    for (int n = 0; n < packets_at_once && socket_.fd() >= 0 && !stopping(); ++n) {
        const auto datagram = socket_.receive();
        if (!datagram)
            break;
        if_memory_lasts([&] { receive(*datagram); });
    }
    counters_.kernel_dropped.store(socket_.dropped(), std::memory_order_relaxed);
    if_memory_lasts([&] { tcp_.serve(tcp_events_); });
}

void OscLoop::receive(const UdpSocket::Datagram& datagram) {
    const auto answer = admission_.admits(datagram, socket_.fd());
    if (answer == Admission::Answer::no)
        return;
    if (answer == Admission::Answer::yes && waiting_.any_of(datagram.from))
        receive_waiting();
    if (answer == Admission::Answer::yes && !waiting_.any_of(datagram.from))
        take_packet(datagram.bytes, datagram.from);
    else if (!waiting_.add(datagram, admission_.sender(), Clock::now()))
        admission_.give_up(admission_.sender());
}

void OscLoop::receive_waiting() {
    const Clock::time_point now = Clock::now();
    waiting_.take(
        [&](const WaitingDatagrams::Datagram& each) {
            const auto answer = admission_.admits(each.sender, now - each.came > WaitingDatagrams::patience);
            return answer == Admission::Answer::later ? std::nullopt : std::optional(answer == Admission::Answer::yes);
        },
        [&](const WaitingDatagrams::Datagram& each) { if_memory_lasts([&] { take_packet(each.bytes, each.from); }); });
}

/// Of the memory for packets and replies.
size_t OscLoop::free_bytes() const noexcept {
    const size_t held = *services_.held;
    return held < services_.most_held ? services_.most_held - held : 0;
}

bool OscLoop::takes_more_of(TcpPeer from) const {
    return bundles_.have_room_soon(from, free_bytes());
}

/// The packet, decoded and counted; null if it is malformed.
std::shared_ptr<const Packet> OscLoop::take_in(std::span<const std::byte> bytes) {
    struct Counted {
        PacketCounters& counters;
        bool decoded = false;
        ~Counted() { (decoded ? counters.decoded : counters.rejected).fetch_add(1, std::memory_order_relaxed); }
    } counted{counters_};
    counters_.received.fetch_add(1, std::memory_order_relaxed);
    if (dump_mode_ & 2)
        print_dump(to_hex(bytes));
    auto decoded = decode(bytes);
    if (!decoded) {
        callbacks_.log(Level::debug, "OSC packet rejected: " + decoded.error());
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
            print_dump(text);
    take_bundles(packet, from);
}

void OscLoop::take_bundles(const std::shared_ptr<const Packet>& packet, const Endpoint& from) {
    if (const std::string* why = handover_.failure()) {
        refuse(*packet, from, *why);
    } else if (!has_room_for(*packet, from)) {
        refuse(*packet, from, "command queue full");
    } else if (!asks_again(*packet, from)) {
        size_t before = *services_.held - packet->memory();
        for (const PacketBundle& bundle : packet->bundles()) {
            if (bundle.messages.empty())
                continue;
            auto made = make_bundle(services_, packet, bundle, from);
            made->weight = *services_.held - before;
            bundles_.push_back(std::move(made), from);
            before = *services_.held;
        }
    }
}

/// sclang asks several times a second until it is answered. All answers to that at once would have it log in as often.
bool OscLoop::asks_again(const Packet& packet, const Endpoint& from) {
    const std::span<const Message> messages = packet.messages();
    const CommandSpec* spec = messages.size() == 1 && !engine_ ? find_command(messages[0]) : nullptr;
    if (!spec || std::string_view(spec->name) != "/status")
        return false;
    if (std::ranges::find(status_waits_, from) != status_waits_.end())
        return true;
    status_waits_.push_back(from);
    return false;
}

bool OscLoop::has_room_for(const Packet& packet, const Endpoint& from) const {
    const size_t held = *services_.held;
    const auto& bundles = packet.bundles();
    const auto scheduled =
        size_t(std::ranges::count_if(bundles, [](const PacketBundle& bundle) { return !is_immediate(bundle.time); }));
    return bundles_.have_room_for(from, bundles.size(), scheduled, free_bytes()) &&
           held <= (scheduled > 0 ? max_held / 2 : max_held);
}

void OscLoop::refuse(const Packet& packet, const Endpoint& to, std::string_view why) {
    for (const Message& message : packet.messages())
        fail(to, name_of(message), why);
}

// ---- what comes back

void OscLoop::job(Command& command) noexcept {
    if_memory_lasts([&] { add_completion(command); });
    bundles_.note_job(command);
    if (command.quits())
        quitting_.begin();
    if (command.needs_copy() || services_.keeper.has_jobs())
        services_.keeper.wait_for_copy(command);
    else
        worker_.add(&command);
}

void OscLoop::add_completion(Command& command) {
    const CompletionRequest request = command.take_completion_request();
    if (request.packet.empty())
        return;
    auto bundle = make_completion(services_, request.packet, to_endpoint(request.from.client));
    if (!bundle) {
        log_limited(warnings_, Level::warning, "a plugin's completion message is malformed: " + bundle.error());
    } else if (!engine_ || !engine_->reserve()) {
        for (Command* c = bundle.value()->first; c; c = c->next)
            c->refuse(*this, "command queue full");
    } else {
        bundles_.note_given();
        command.completion = bundle.value().release();
    }
}

void OscLoop::reply(Command& command) {
    deliver_post();
    bundles_.note_reply(command);
    if (command.quits())
        quitting_.give_up(); // or else it calls quit() now
    command.answer(*this);
}

void OscLoop::retired(CommandBundle* bundle) noexcept {
    services_.keeper.note_end(*bundle);
    bundles_.retire(bundle);
}

void OscLoop::release(Handback* object) noexcept {
    if (const std::string* name = object->synthdef_name()) {
        const std::array<ReplyArg, 1> args{std::string_view(*name)};
        for (const Clients::Login& login : clients_.all())
            if_memory_lasts([&] { send(login.endpoint, "/d_removed", args); });
    }
    worker_.add(object);
}

void OscLoop::print_dump(std::string_view text) {
    while (true) {
        const size_t end = text.find('\n');
        print(text.substr(0, end));
        if (end == text.npos || end + 1 == text.size())
            break;
        text.remove_prefix(end + 1);
    }
}

void OscLoop::late(double seconds) {
    if (services_.settings.engine.verbosity < 0)
        return;
    char text[64];
    std::snprintf(text, sizeof text, "late %.9f", seconds);
    log_limited(late_lines_, Level::info, text);
}

void OscLoop::piece(std::string_view text) {
    pieces_.add(of_data_loop, text, Clock::now(), [this](std::string_view line) { complain(line); });
}

void OscLoop::command_done(std::string_view name, const Endpoint& from) {
    deliver_post();
    done(from, name);
}

void OscLoop::command_failed(std::string_view text, const Endpoint& from) {
    deliver_post();
    failure_level_ = Level::warning; // the plugin's fault, not the client's
    fail(from, "/cmd", text);
    failure_level_ = Level::info;
}

void OscLoop::packet(std::span<const std::byte> bytes, const ReplyTo& to) {
    if (to.outlet == post_.number())
        forward(to.client, bytes);
    else
        (void)PluginOutlet::send(to.outlet, to.client, bytes);
}

// ---- what plugins say on other threads

void OscLoop::deliver_post() {
    if (post_.any()) {
        const PluginPost::Mail mail = post_.take();
        for (const auto& [client, bytes] : mail.packets)
            forward(client, bytes);
        for (const auto& [source, text] : mail.pieces)
            pieces_.add(source, text, Clock::now(), [this](std::string_view line) { print(line); });
        if (mail.lost > 0)
            log_limited(plugin_losses_, Level::warning,
                        "plugins say too much at once: " + std::to_string(mail.lost) + " replies or lines are lost");
    }
    if (pieces_.any())
        pieces_.emit_old(Clock::now(), [this](std::string_view line) { print(line); });
}

void OscLoop::forward(uint64_t client, std::span<const std::byte> packet) {
    if (!stopping() && !quitting_.is_silent(Clock::now()) && !transmit(to_endpoint(client), packet))
        log_limited(plugin_losses_, Level::warning,
                    "a reply of a plugin, " + std::to_string(packet.size()) +
                        " bytes, is lost: its client is gone, or it is too long");
}

// ---- out

/// false: it wasn't sent.
bool OscLoop::transmit(const Endpoint& to, std::span<const std::byte> bytes) {
    if (const auto* client = std::get_if<TcpPeer>(&to))
        return tcp_.send(*client, bytes);
    const auto* peer = std::get_if<UdpPeer>(&to);
    if (!peer)
        return true;
    if (socket_.send(*peer, bytes))
        return true;
    callbacks_.log(Level::debug, std::string("OSC reply not sent: ") + std::strerror(errno));
    return false;
}

bool OscLoop::send(const Endpoint& to, std::string_view address, std::span<const ReplyArg> args) {
    if (quitting_.is_silent(Clock::now()) || (address == "/fail" && quitting_.hushes_failures()))
        return true;
    if (stopping()) // a packet may have hundreds of thousands of answers, an event a thousand receivers
        return true;
    if (const auto failure = failure_line(address, args))
        log_limited(failures_, failure_level_, *failure);
    const auto* connection = std::get_if<TcpPeer>(&to);
    if (std::holds_alternative<std::monostate>(to) || (connection && !tcp_.has(*connection)))
        return true;
    Result<std::span<const std::byte>> message = Error{};
    // Without memory liblo writes to a null pointer.
    if (!FaultGuard::run([&] { compose(composer_, address, args, message); }))
        throw std::bad_alloc();
    if (!message) {
        log_limited(warnings_, Level::warning, "OSC reply not composed: " + message.error());
        return true;
    }
    if (std::holds_alternative<UdpPeer>(to) && message.value().size() > UdpSocket::max_message)
        return false;
    (void)transmit(to, message.value());
    return true;
}

void OscLoop::quit(const Endpoint& from) {
    clients_.clear();
    quitting_.request(Clock::now(), services_.settings.allow_quit, from);
}

void OscLoop::finish_quit() {
    for (const Endpoint& client : quitting_.take_clients())
        if_memory_lasts([&] { done(client, "/quit"); });
    quitting_.answered();
    if (quitting_.ends())
        close();
}

void OscLoop::close() {
    services_.shared_memory.close();
    socket_.close();
    tcp_.close();
    callbacks_.state("quit");
    callbacks_.quit();
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/engine.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/server.hpp"
#include "osc/udp-socket.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace scs::osc::testing {

/// false: the condition hasn't come true within 20 s.
inline bool wait_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return condition();
}

using Bytes = std::vector<std::byte>;

inline Bytes message(std::string_view address, std::initializer_list<ReplyArg> args = {}) {
    ReplyComposer composer;
    const auto composed = composer.compose(address, std::vector<ReplyArg>(args));
    REQUIRE(composed);
    return {composed.value().begin(), composed.value().end()};
}

inline void put_int(Bytes& to, uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
        to.push_back(std::byte(value >> (8 * i)));
}

inline Bytes bundle(uint64_t time, const std::vector<Bytes>& messages) {
    Bytes result;
    for (char c : {'#', 'b', 'u', 'n', 'd', 'l', 'e', '\0'})
        result.push_back(std::byte(c));
    put_int(result, time, 8);
    for (const Bytes& m : messages) {
        put_int(result, m.size(), 4);
        result.insert(result.end(), m.begin(), m.end());
    }
    return result;
}

/// A SynthDef of one unit, or of none if `unit` is empty: controls "freq" (2 values, 1 and 2) and "gate" (3).
inline Bytes synthdef(std::string_view name, std::string_view unit) {
    Bytes b;
    const auto text = [&](std::string_view t) {
        put_int(b, t.size(), 1);
        for (char c : t)
            b.push_back(std::byte(c));
    };
    const auto number = [&](float f) {
        uint32_t bits;
        std::memcpy(&bits, &f, 4);
        put_int(b, bits, 4);
    };
    put_int(b, 0x53436766, 4);
    put_int(b, 2, 4);
    put_int(b, 1, 2);
    text(name);
    put_int(b, 1, 4); // constants
    number(440);
    put_int(b, 3, 4); // controls
    number(1);
    number(2);
    number(3);
    put_int(b, 2, 4);
    text("freq");
    put_int(b, 0, 4);
    text("gate");
    put_int(b, 2, 4);
    put_int(b, unit.empty() ? 0 : 1, 4);
    if (!unit.empty()) {
        text(unit);
        put_int(b, 2, 1); // audio rate
        put_int(b, 2, 4); // inputs, both the constant
        put_int(b, 1, 4); // outputs
        put_int(b, 0, 2);
        for (int i = 0; i < 2; ++i) {
            put_int(b, 0xffffffff, 4);
            put_int(b, 0, 4);
        }
        put_int(b, 2, 1);
    }
    put_int(b, 0, 2); // variants
    return b;
}

/// A server, a thread that is its data loop, and clients.
class Rig {
public:
    explicit Rig(ServerSettings settings = {}, bool cycles = true) : cycles_(cycles) {
        settings.port = 0;
        settings.engine.max_quantum = 64;
        settings.engine.audio_buses = 128;
        settings.engine.control_buses = 128;
        settings.load_synthdefs = false;
        settings.log = [this](ServerSettings::Level, const std::string& text) {
            const std::lock_guard lock(mutex_);
            log_ += text + "\n";
        };
        settings.wake = [this] {
            ++wakes_;
            Server* const server = started_;
            if (Engine* engine = server ? server->engine() : nullptr; engine && !cycles_)
                engine->run_idle();
        };
        settings.quit = [this] {
            const std::lock_guard lock(mutex_);
            quit_ = true;
            changed_.notify_all();
        };
        settings.state = [this](const std::string& state) {
            const std::lock_guard lock(mutex_);
            state_ = state;
            changed_.notify_all();
        };
        auto started = Server::start(std::move(settings));
        REQUIRE(started);
        server_ = std::move(started.value());
        started_ = server_.get();
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return state_ != "starting"; }));
        REQUIRE(state_ == "running");
        if (cycles_)
            data_loop_ = std::thread([this] { run_cycles(); });
    }
    ~Rig() { end_server(); }
    void stop_cycles() {
        stop_ = true;
        if (data_loop_.joinable())
            data_loop_.join();
    }

    /// Ends the server. Returns all that it has written to the log.
    std::string end() {
        end_server();
        return log();
    }

    Server& server() { return *server_; }
    int wakes() const { return wakes_; }
    std::string log() {
        const std::lock_guard lock(mutex_);
        return log_;
    }
    bool wait_for_quit() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return quit_; });
    }

private:
    void end_server() {
        stop_cycles();
        started_ = nullptr;
        server_.reset();
    }
    void run_cycles() {
        float left[64], right[64];
        float* out[] = {left, right};
        const float* in[] = {nullptr, nullptr};
        NtpTime now = uint64_t(3'900'000'000) << 32;
        while (!stop_) {
            server_->engine()->process(64, now, 48000, in, out);
            now = ntp_advance(now, 64, 48000);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::string log_, state_ = "starting";
    bool quit_ = false;
    bool cycles_;
    std::atomic<int> wakes_{0};
    std::unique_ptr<Server> server_;
    std::atomic<Server*> started_{nullptr}; // the same, for wake() on the OSC thread
    std::atomic<bool> stop_{false};
    std::thread data_loop_;
};

/// How long clients wait for an answer, in seconds.
#if defined(SCS_SANITIZED)
constexpr int patience = 60;
#else
constexpr int patience = 10;
#endif

/// A client with a socket of its own. Messages are compared as text: the address and its arguments.
class Client {
public:
    explicit Client(Rig& rig) : to_{htonl_loopback(), htons_port(rig.server().port())} {
        auto opened = UdpSocket::open("127.0.0.1", 0);
        REQUIRE(opened);
        socket_ = std::move(opened.value());
    }

    bool try_send(const Bytes& bytes) { return socket_.send(to_, bytes); }
    void send(const Bytes& bytes) { REQUIRE(try_send(bytes)); }
    void send(std::string_view address, std::initializer_list<ReplyArg> args = {}) { send(message(address, args)); }

    /// The next message from the server, or "" if none comes in that time.
    std::string receive(int timeout_ms = 1000 * patience) {
        pollfd fd{socket_.fd(), POLLIN, 0};
        if (::poll(&fd, 1, timeout_ms) <= 0)
            return "";
        const auto datagram = socket_.receive();
        if (!datagram)
            return "";
        CHECK(std::get<UdpPeer>(Endpoint(datagram->from)) == to_);
        const auto packet = decode(datagram->bytes);
        REQUIRE(packet);
        return to_text(packet.value().messages()[0]);
    }
    /// Everything that comes before the answer to a /sync.
    std::vector<std::string> until_synced() {
        send("/sync", {++sync_});
        std::vector<std::string> result;
        const std::string end = "/synced " + std::to_string(sync_);
        for (std::string text = receive(); text != end; text = receive()) {
            REQUIRE(text != "");
            result.push_back(text);
        }
        return result;
    }

private:
    static std::string to_text(const Message& m) {
        std::string text(m.address);
        for (const Arg& arg : m.args) {
            text += ' ';
            char number[32];
            switch (arg.type) {
            case Arg::Type::int32: text += std::to_string(arg.i); break;
            case Arg::Type::float32:
                std::snprintf(number, sizeof number, "%.4gf", double(arg.f));
                text += number;
                break;
            case Arg::Type::float64:
                std::snprintf(number, sizeof number, "%.6gd", arg.d);
                text += number;
                break;
            case Arg::Type::string: text += arg.text(); break;
            default: text += '?';
            }
        }
        return text;
    }
    static uint32_t htonl_loopback() { return __builtin_bswap32(0x7f000001); }
    static uint16_t htons_port(uint16_t port) { return __builtin_bswap16(port); }

    UdpPeer to_;
    UdpSocket socket_;
    int32_t sync_ = 1000;
};

} // namespace scs::osc::testing

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "host.hpp"
#include "osc-client.hpp"
#include "thread-clock.hpp"

#include "engine/rt/ntp-time.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <execinfo.h>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// A node as it is installed, whose cycles are timed while clients send to it.
namespace scs::bench {

using namespace scs::test;

constexpr double rate = 48000;
constexpr int64_t second = 1'000'000'000;
constexpr double goal = 80; // %, the limit of 70 % and what may lie between two looks at the clock

inline int64_t now_nsec(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return int64_t(now.tv_sec) * second + now.tv_nsec;
}

inline NtpTime ntp_in(double seconds) {
    const int64_t then = now_nsec(CLOCK_REALTIME) + int64_t(seconds * second);
    return ntp_from_unix(then / second, uint32_t(then % second));
}

/// What the data thread does when a cycle has lasted for as long as it may: its stack then, the last time that this
/// happened.
class Witness {
public:
    static Witness& get() {
        static Witness only;
        return only;
    }
    bool wanted = false;
    /// From now on, on this thread.
    void arm(int64_t nsec) {
        if (!wanted)
            return;
        if (const auto thread = pid_t(syscall(SYS_gettid)); thread != thread_)
            make(thread);
        const itimerspec when = {{}, {time_t(nsec / second), long(nsec % second)}};
        timer_settime(timer_, 0, &when, nullptr);
    }
    void disarm() {
        if (!wanted)
            return;
        const itimerspec never = {};
        timer_settime(timer_, 0, &never, nullptr);
    }
    void forget() { depth_ = 0; }
    /// The plugin's functions on it, the innermost first.
    void print() const {
        std::string command = "addr2line -Cspife " PLUGIN;
        int lines = 0;
        for (int i = 0; i < depth_; ++i) {
            Dl_info library;
            if (!dladdr(stack_[i], &library) || !library.dli_fname || std::string_view(library.dli_fname) != PLUGIN)
                continue;
            char offset[32];
            std::snprintf(offset, sizeof offset, " %#tx",
                          static_cast<char*>(stack_[i]) - static_cast<char*>(library.dli_fbase) - 1);
            command += offset;
            if (++lines == deepest)
                break;
        }
        std::fflush(stdout);
        if (lines > 0 && std::system((command + " | cut -c1-150 | sed 's/^/    /'").c_str()) != 0)
            std::puts("    addr2line failed");
    }

private:
    void make(pid_t thread) {
        backtrace(stack_, depth); // loads what it needs
        struct sigaction action {};
        action.sa_handler = [](int) {
            Witness& self = get();
            self.depth_ = backtrace(self.stack_, depth);
        };
        action.sa_flags = SA_RESTART | SA_ONSTACK;
        sigaction(SIGPROF, &action, nullptr);
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGPROF;
        event._sigev_un._tid = thread;
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0)
            throw std::runtime_error("timer_create");
        thread_ = thread;
    }

    static constexpr int depth = 40, deepest = 5;
    void* stack_[depth];
    int depth_ = 0;
    pid_t thread_ = 0; ///< whose timer it is
    timer_t timer_{};
};

/// A connection whose packets are written by a thread of its own, as the server may not read at once.
class Stream {
public:
    explicit Stream(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(uint16_t(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
            throw std::runtime_error("connect");
    }
    ~Stream() {
        shutdown(socket_, SHUT_RDWR);
        if (writer_.joinable())
            writer_.join();
        close(socket_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void send(const Bytes& packet) {
        const uint32_t size = htonl(uint32_t(packet.size()));
        const auto* head = reinterpret_cast<const std::byte*>(&size);
        out_.insert(out_.end(), head, head + sizeof size);
        out_.insert(out_.end(), packet.begin(), packet.end());
    }
    /// Begins to write what send() was given.
    void flush() {
        if (writer_.joinable())
            writer_.join();
        writer_ = std::thread([this, out = std::move(out_)] {
            for (size_t done = 0; done < out.size();) {
                const ssize_t sent = ::send(socket_, out.data() + done, out.size() - done, MSG_NOSIGNAL);
                if (sent <= 0)
                    return;
                done += size_t(sent);
            }
        });
        out_.clear();
    }
    /// The address of the next message that has come whole; "" if there is none.
    std::string receive() {
        std::byte piece[65536];
        for (ssize_t size; (size = recv(socket_, piece, sizeof piece, MSG_DONTWAIT)) > 0;)
            in_.insert(in_.end(), piece, piece + size);
        uint32_t size;
        if (in_.size() - taken_ < sizeof size)
            return {};
        std::memcpy(&size, in_.data() + taken_, sizeof size);
        size = ntohl(size);
        if (in_.size() - taken_ < sizeof size + size)
            return {};
        std::string address(reinterpret_cast<const char*>(in_.data() + taken_ + sizeof size));
        taken_ += sizeof size + size;
        return address;
    }

private:
    int socket_;
    std::thread writer_;
    Bytes out_, in_;
    size_t taken_ = 0;
};

struct Measured {
    int64_t longest = 0; ///< ns
    uint64_t cycles = 0;
    bool answered = true;
};

/// A node that plays, and its client.
class Stand {
public:
    Stand(uint32_t frames, bool native) : frames_(frames), duration_(int64_t(frames / rate * second)), host_(PLUGIN) {
        node_ = host_.create({{"scsynth.osc.port", "0"},
                              {"scsynth.load-synthdefs", "false"},
                              {"scsynth.max-nodes", "200000"},
                              {"scsynth.rt-memory", "524288"},
                              {"scsynth.native-ugens", native ? "true" : "false"}});
        const auto ready = [&] { return node_->properties["scsynth.state"] != "starting"; };
        if (!node_ || !host_.main().run_until(ready, 60000) || node_->properties["scsynth.state"] != "running")
            throw std::runtime_error(host_.log().all());
        stream_ = std::make_unique<Stream>(std::stoi(node_->properties["scsynth.osc.port"]));
        node_->link(SPA_DIRECTION_OUTPUT, 0);
        node_->link(SPA_DIRECTION_OUTPUT, 1);
        node_->start();
        host_.before_process = [this] {
            Witness::get().arm(duration_ * int64_t(goal) / 100);
            clock_.emplace();
        };
        host_.after_process = [this] {
            spent_ = clock_->spent();
            clock_.reset();
            Witness::get().disarm();
        };
        std::ifstream file(SOURCE_ROOT "/bench/synthdefs/default.scsyndef", std::ios::binary);
        const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
        Bytes definition(bytes.size());
        std::memcpy(definition.data(), bytes.data(), bytes.size());
        define(definition);
    }
    ~Stand() { host_.before_process = host_.after_process = nullptr; }
    Stand(const Stand&) = delete;
    Stand& operator=(const Stand&) = delete;

    void send(const Bytes& packet) { stream_->send(packet); }
    void send(const std::string& address, const std::vector<OscArg>& args = {}) { send(osc_message(address, args)); }

    /// Cycles until everything that was sent is done, with deadlines if `limited`.
    bool settle(bool limited = false) {
        send("/sync", {1});
        return !await({"/synced"}, limited).empty();
    }
    /// Whether there is a node of this ID.
    bool has(int id) {
        send("/n_set", {id});
        send("/sync", {1});
        return await({"/fail", "/synced"}, false) == "/synced";
    }
    void run(double seconds, bool limited) {
        for (double left = seconds; left > 0; left -= frames_ / rate)
            cycle(limited);
    }
    /// For that long by the clock.
    void wait(double seconds, bool limited) {
        for (const int64_t end = now_nsec(CLOCK_MONOTONIC) + int64_t(seconds * second);
             now_nsec(CLOCK_MONOTONIC) < end;)
            cycle(limited);
    }
    std::string log() { return host_.log().all(); }
    int64_t spent() const { return spent_; }
    int64_t duration() const { return duration_; }
    Measured take() { return std::exchange(measured_, {}); }

    /// `count` groups or synths from ID `first` on, each `action` (0: head, 1: tail) in `parent` or, with nested
    /// groups, in the one before.
    void groups(int first, int count, int parent, bool nested = false) {
        for (int done = 0; done < count;) {
            std::vector<OscArg> args;
            for (int end = std::min(done + 1000, count); done < end; ++done) {
                args.insert(args.end(), {first + done, 1, parent});
                parent = nested ? first + done : parent;
            }
            send("/g_new", args);
        }
        settle();
    }
    void define(const Bytes& file) {
        send("/d_recv", {file});
        settle();
    }
    void synths(const std::string& definition, int first, int count, int group) {
        for (int i = 0; i < count; ++i) {
            // So soft that nothing is clipped.
            send("/s_new", {definition, first + i, 1, group, "amp", 1e-7f});
            if (i % 2000 == 1999)
                settle();
        }
        settle();
    }
    void paused_synths(int count) {
        send("/g_new", {1, 0, 0});
        send("/n_run", {1, 0});
        synths("default", 1000, count, 1);
    }

private:
    /// Sends what waits, and cycles until one of these answers comes; returns which. Empty: none did.
    std::string await(std::initializer_list<std::string_view> answers, bool limited) {
        stream_->flush();
        const int64_t give_up = now_nsec(CLOCK_MONOTONIC) + 20 * second;
        while (now_nsec(CLOCK_MONOTONIC) < give_up) {
            for (std::string address; !(address = stream_->receive()).empty();)
                if (std::find(answers.begin(), answers.end(), address) != answers.end())
                    return address;
            cycle(limited);
        }
        const std::string said = log();
        std::fprintf(stderr, "no answer; the log ends with:\n%s\n",
                     said.substr(said.size() - std::min<size_t>(said.size(), 1000)).c_str());
        return {};
    }
    void cycle(bool limited) {
        spa_io_clock& clock = host_.position().clock;
        clock.flags = limited ? 0 : SPA_IO_CLOCK_FLAG_FREEWHEEL;
        clock.nsec = uint64_t(now_nsec(CLOCK_MONOTONIC));
        host_.cycle(frames_);
        for (uint32_t port : {0u, 1u})
            node_->output(port).clear();
        if (!limited)
            return;
        ++measured_.cycles;
        measured_.longest = std::max(measured_.longest, spent_);
    }

    uint32_t frames_;
    int64_t duration_; ///< ns, of a cycle
    Host host_;
    std::unique_ptr<HostNode> node_;
    std::unique_ptr<Stream> stream_;
    std::optional<ThreadClock> clock_; ///< the data thread's
    int64_t spent_ = 0;                ///< by the last cycle
    Measured measured_;
};

} // namespace scs::bench

// SPDX-License-Identifier: GPL-3.0-or-later
// What it costs to find out whose a datagram is, and how many messages a second one client gets through by UDP and by
// the Unix socket. The first: microseconds that the question takes on the OSC thread for each datagram, mean of 20,000,
// and how much of a processor the thread that looks for holders takes meanwhile; and what single answers of the kernel
// take of a processor, mean of 2,000 in a row. The second: half a million /c_set,
// once with no more than a hundred that the server hasn't taken yet, so that the kernel drops none, and once as fast as
// the client can. Lowest, median and highest of the rounds, whose number is an argument (5).
#include "engine/base/descriptors.hpp"
#include "engine/engine.hpp"
#include "osc/admission.hpp"
#include "osc/codec/compose.hpp"
#include "osc/server.hpp"
#include "osc/unix-address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

using namespace scs;
using namespace scs::osc;

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;
using Micros = std::chrono::duration<double, std::micro>;
using Seconds = std::chrono::duration<double>;

void fail(const char* why) {
    std::perror(why);
    std::exit(1);
}

Bytes message(std::string_view address, std::vector<ReplyArg> args) {
    ReplyComposer composer;
    const auto composed = composer.compose(address, args);
    return {composed.value().begin(), composed.value().end()};
}

sockaddr_in at(uint32_t address, uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(address);
    return name;
}

void print(const char* what, std::vector<double> values, const char* unit) {
    std::ranges::sort(values);
    std::printf("%-58s %10.1f %10.1f %10.1f %s\n", what, values.front(), values[values.size() / 2], values.back(),
                unit);
    std::fflush(stdout);
}

// ---- whose a datagram is

constexpr uid_t nobody = 65534;

/// Mean time of a question, in µs, for datagrams that come `at_once`, with a turn for each such group. `user`: whose
/// they are.
double ask(const char* allow, uint32_t bound_to, int at_once, uid_t user, double& looking) {
    constexpr int count = 20000;
    const auto wanted = user == ::geteuid() ? Admission::Answer::yes : Admission::Answer::no;
    ServerSettings settings;
    settings.allow = allow;
    auto opened = Admission::open(settings);
    auto server = UdpSocket::open("127.0.0.1", 0);
    if (!opened || !server)
        fail("admission");
    Admission admission = std::move(opened.value());
    std::atomic<uint64_t> refused{0};
    admission.report_to(refused, [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
    std::thread watch;
    clockid_t its_clock{};
    if (admission.needs_watch()) {
        watch = std::thread([&] { admission.watch_senders([] {}); });
        pthread_getcpuclockid(watch.native_handle(), &its_clock);
    }
    const Descriptor client(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in own = at(bound_to, 0), to = at(INADDR_LOOPBACK, server.value().port());
    if (::bind(client.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
        fail("bind");
    if (::fchown(client.get(), user, gid_t(-1)) != 0)
        fail("fchown");
    const auto receive = [&] {
        ::sendto(client.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        return server.value().receive();
    };
    while (admission.admits(*receive(), server.value().fd()) == Admission::Answer::later)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Clock::duration asking{};
    const auto began = Clock::now();
    for (int i = 0; i < count; i += at_once) {
        for (int k = 0; k < at_once; ++k)
            ::sendto(client.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        admission.begin_turn();
        for (int k = 0; k < at_once; ++k) {
            const auto datagram = server.value().receive();
            const auto before = Clock::now();
            if (admission.admits(*datagram, server.value().fd()) != wanted)
                fail("another answer");
            asking += Clock::now() - before;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (watch.joinable()) {
        timespec used{};
        clock_gettime(its_clock, &used);
        looking = 100 * (double(used.tv_sec) + 1e-9 * double(used.tv_nsec)) / Seconds(Clock::now() - began).count();
        admission.end_watch();
        watch.join();
    }
    return Micros(asking).count() / count;
}

void measure_questions(int rounds) {
    struct Case {
        const char *what, *allow;
        uint32_t bound_to;
        int at_once;
        uid_t user = ::geteuid();
    };
    for (const Case& each : {Case{"allow = own, bound to all addresses, one at a time", "own", INADDR_ANY, 1},
                             Case{"allow = own, bound to all addresses, ten at once", "own", INADDR_ANY, 10},
                             Case{"allow = own, bound to 127.0.0.1, one at a time", "own", INADDR_LOOPBACK, 1},
                             Case{"allow = own, bound to 127.0.0.1, ten at once", "own", INADDR_LOOPBACK, 10},
                             Case{"allow = user, bound to all addresses, one at a time", "user", INADDR_ANY, 1},
                             Case{"allow = user, bound to 127.0.0.1, one at a time", "user", INADDR_LOOPBACK, 1},
                             Case{"allow = user, another user's, one at a time", "user", INADDR_LOOPBACK, 1, nobody}}) {
        if (each.user != ::geteuid() && ::geteuid() != 0) {
            std::printf("%-58s only root can measure\n", each.what);
            continue;
        }
        std::vector<double> times, shares;
        for (int i = 0; i < rounds; ++i) {
            double looking = 0;
            times.push_back(ask(each.allow, each.bound_to, each.at_once, each.user, looking));
            shares.push_back(looking);
        }
        print(each.what, times, "us");
        if (each.allow == std::string_view("own"))
            print("  the thread that looks for holders", shares, "% of a processor");
    }
}

/// Mean processor time of one answer of the kernel's, in µs: all sockets with this port, for which it walks its whole
/// table, or the one that gets what is sent to it.
double ask_kernel(uint8_t family, uint16_t port, bool all) {
    constexpr int count = 2000;
    const Descriptor kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    struct {
        nlmsghdr head;
        inet_diag_req_v2 body;
    } wanted{};
    wanted.head.nlmsg_len = sizeof wanted;
    wanted.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    wanted.head.nlmsg_flags = uint16_t(NLM_F_REQUEST | (all ? NLM_F_DUMP : 0));
    wanted.body.sdiag_family = family;
    wanted.body.sdiag_protocol = IPPROTO_UDP;
    wanted.body.idiag_states = ~0u;
    wanted.body.id.idiag_cookie[0] = wanted.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    (all ? wanted.body.id.idiag_sport : wanted.body.id.idiag_dport) = htons(port);
    wanted.body.id.idiag_dst[0] = all ? 0 : htonl(INADDR_LOOPBACK);
    const auto used = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1e6 * double(time.tv_sec) + 1e-3 * double(time.tv_nsec);
    };
    const double before = used();
    for (int i = 0; i < count; ++i) {
        if (::send(kernel.get(), &wanted, sizeof wanted, 0) < 0)
            fail("NETLINK_SOCK_DIAG");
        std::array<char, 16384> answer;
        for (bool more = true; more;) {
            if (::recv(kernel.get(), answer.data(), answer.size(), 0) < 0)
                fail("NETLINK_SOCK_DIAG");
            more = all && reinterpret_cast<const nlmsghdr*>(answer.data())->nlmsg_type != NLMSG_DONE;
        }
    }
    return (used() - before) / count;
}

void measure_kernel(int rounds) {
    const auto socket = UdpSocket::open("127.0.0.1", 0);
    if (!socket)
        fail("socket");
    struct Case {
        const char* what;
        uint8_t family;
        bool all;
    };
    for (const Case& each :
         {Case{"the kernel's IPv4 sockets with a port", AF_INET, true}, Case{"its IPv6 sockets", AF_INET6, true},
          Case{"the socket that receives at 127.0.0.1 and a port", AF_INET, false}}) {
        std::vector<double> times;
        for (int i = 0; i < rounds; ++i)
            times.push_back(ask_kernel(each.family, socket.value().port(), each.all));
        print(each.what, times, "us");
    }
}

// ---- messages a second

/// A server and a thread that is its data loop.
class Host {
public:
    explicit Host(const std::string& socket) {
        ServerSettings settings;
        settings.port = 0;
        settings.socket = socket;
        settings.load_synthdefs = false;
        settings.shared_memory = false;
        settings.log = [](ServerSettings::Level level, const std::string& line) {
            if (level < ServerSettings::Level::info)
                std::fprintf(stderr, "%s\n", line.c_str());
        };
        settings.wake = settings.quit = [] {};
        settings.state = [](const std::string&) {};
        auto started = Server::start(std::move(settings));
        if (!started)
            fail(started.error().c_str());
        server = std::move(started.value());
        while (!server->engine())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        data_loop_ = std::thread([this] { run(); });
    }
    ~Host() {
        stop_ = true;
        data_loop_.join();
    }
    std::unique_ptr<Server> server;

private:
    void run() {
        std::array<float, 64> left, right;
        float* out[] = {left.data(), right.data()};
        const float* in[] = {nullptr, nullptr};
        NtpTime now = uint64_t(3'900'000'000) << 32;
        for (auto due = Clock::now(); !stop_; due += std::chrono::microseconds(1333)) {
            server->engine()->process(64, now, 48000, in, out);
            now = ntp_advance(now, 64, 48000);
            std::this_thread::sleep_until(due);
        }
    }
    std::atomic<bool> stop_{false};
    std::thread data_loop_;
};

class Client {
public:
    Client(const Host& host, const std::string& socket) : stream_(!socket.empty()) {
        const sockaddr_un local = unix_address(socket);
        const sockaddr_in to = at(INADDR_LOOPBACK, host.server->port());
        fd_ = Descriptor(::socket(stream_ ? AF_UNIX : AF_INET, (stream_ ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0));
        const sockaddr_in own = at(INADDR_ANY, 0);
        if (!stream_ && ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
            fail("bind");
        name_ = to;
        if (stream_ && ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0)
            fail("connect");
    }
    void send(const Bytes& packet) {
        if (!stream_) {
            if (::sendto(fd_.get(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&name_),
                         sizeof name_) < 0)
                fail("sendto");
            return;
        }
        Bytes all(4 + packet.size());
        const uint32_t size = htonl(uint32_t(packet.size()));
        std::memcpy(all.data(), &size, 4);
        std::ranges::copy(packet, all.begin() + 4);
        for (size_t sent = 0; sent < all.size();) {
            const ssize_t count = ::send(fd_.get(), all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
            if (count < 0)
                fail("send");
            sent += size_t(count);
        }
    }
    /// Waits for an answer, a second at most.
    bool wait() {
        pollfd waiting{fd_.get(), POLLIN, 0};
        std::array<std::byte, 65536> bytes;
        return ::poll(&waiting, 1, 1000) > 0 && ::recv(fd_.get(), bytes.data(), bytes.size(), 0) > 0;
    }

private:
    bool stream_;
    Descriptor fd_;
    sockaddr_in name_{};
};

/// Thousands of messages a second that are taken, and how many in a hundred aren't. `most_ahead`: of those that the
/// server has taken.
double stream(const Host& host, Client& client, uint64_t most_ahead, double& lost) {
    constexpr uint64_t count = 500'000;
    const Bytes set = message("/c_set", {0, 1.f});
    const auto taken = [&, before = host.server->counters().received.load()] {
        return host.server->counters().received.load() - before;
    };
    const auto began = Clock::now();
    for (uint64_t i = 0; i < count; ++i) {
        while (i - std::min(i, taken()) >= most_ahead && Clock::now() - began < std::chrono::minutes(1))
            std::this_thread::yield();
        client.send(set);
    }
    auto last = Clock::now();
    for (uint64_t seen = taken(); seen < count && Clock::now() - last < std::chrono::milliseconds(500);) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (const uint64_t now = taken(); now != seen) {
            seen = now;
            last = Clock::now();
        }
    }
    lost = 100 * double(count - taken()) / count;
    return double(taken()) / Seconds(last - began).count() / 1000;
}

void measure_messages(int rounds) {
    const std::string path = std::filesystem::temp_directory_path() / ("senders-" + std::to_string(::getpid()));
    for (const std::string& socket : {std::string(), path}) {
        std::vector<double> paced, in_flood, paced_losses, losses;
        for (int i = 0; i < rounds; ++i) {
            const Host host(path);
            Client client(host, socket);
            client.send(message("/sync", {1}));
            client.wait();
            double lost = 0;
            paced.push_back(stream(host, client, 100, lost));
            paced_losses.push_back(lost);
            in_flood.push_back(stream(host, client, ~uint64_t(0), lost));
            losses.push_back(lost);
        }
        const std::string by = socket.empty() ? "by UDP" : "by the Unix socket";
        print((by + ", a hundred ahead at most").c_str(), paced, "thousand messages a second");
        print("  lost", paced_losses, "%");
        print((by + ", a flood").c_str(), in_flood, "thousand messages a second");
        print("  lost", losses, "%");
    }
}

} // namespace

int main(int count, char** args) {
    const int rounds = count > 1 ? std::max(std::atoi(args[1]), 1) : 5;
    std::printf("%-58s %10s %10s %10s\n", "", "lowest", "median", "highest");
    measure_questions(rounds);
    measure_kernel(rounds);
    measure_messages(rounds);
}

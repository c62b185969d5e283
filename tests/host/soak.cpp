// SPDX-License-Identifier: GPL-3.0-or-later
// Hours of the node's life as fast as they go: random packets of a file, again and again in another order, with the
// scripted clock. At each quarter of the time everything is freed. Then the process must not have grown, and a bundle
// must still be carried out at its very frame.
#include "host.hpp"
#include "osc-client.hpp"
#include "scripted-cycles.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace scs::test;

namespace {

constexpr uint32_t quantum = 1024;
constexpr double rate = 48000;
constexpr int quarters = 4;
constexpr int packets_at_once = 20;
constexpr double between = 1; // seconds of audio from some packets to the next ones
// MiB: how much the process may grow after the first quarter, and what is allocated in it. Of the first, what the C
// library has freed and keeps doesn't count: how many pieces it leaves between others depends on the packets.
constexpr double growth = 1.05, slack = 8, allocated_slack = 1;

/// Packets, each after its size as a big-endian int32.
std::vector<Bytes> read_packets(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> all(std::istreambuf_iterator<char>(file), {});
    std::vector<Bytes> packets;
    for (size_t at = 0; at + 4 <= all.size();) {
        uint32_t size = 0;
        for (int i = 0; i < 4; ++i)
            size = size << 8 | uint8_t(all[at++]);
        Bytes packet(std::min<size_t>(size, all.size() - at));
        std::memcpy(packet.data(), all.data() + at, packet.size());
        at += packet.size();
        packets.push_back(std::move(packet));
    }
    if (packets.empty())
        throw std::runtime_error("no packets");
    return packets;
}

struct Memory {
    double resident, allocated; ///< MiB
};

Memory memory() {
    malloc_trim(0);
    const struct mallinfo2 heap = mallinfo2();
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    const double mib = 1 << 20;
    return {(double(resident) * double(sysconf(_SC_PAGESIZE)) - double(heap.fordblks)) / mib,
            double(heap.uordblks + heap.hblkhd) / mib};
}

class Soak {
public:
    Soak(const char* packets, double seconds, uint32_t seed, const char* folder)
        : packets_(read_packets(packets)), seconds_(seconds), random_(seed), host_(PLUGIN), cycles_(host_) {
        node_ = host_.create({{"scsynth.osc.port", "0"},
                              {"scsynth.load-synthdefs", "false"},
                              {"scsynth.allow-quit", "false"},
                              {"scsynth.restricted-path", folder}});
        const auto ready = [&] { return node_->properties["scsynth.state"] != "starting"; };
        if (!node_ || !host_.main().run_until(ready, 60000) || node_->properties["scsynth.state"] != "running")
            throw std::runtime_error(host_.log().all());
        const int port = std::stoi(node_->properties["scsynth.osc.port"]);
        client_ = std::make_unique<OscClient>(port);
        stranger_ = std::make_unique<OscClient>(port);
        node_->link(SPA_DIRECTION_OUTPUT, 0);
        node_->start();
    }

    bool run() {
        const auto begun = std::chrono::steady_clock::now();
        Memory first{};
        bool well = true;
        for (int quarter = 1; quarter <= quarters; ++quarter) {
            while (heard() < seconds_ * quarter / quarters) {
                for (int i = 0; i < packets_at_once; ++i)
                    stranger_->send(packets_[random_() % packets_.size()]);
                sent_ += packets_at_once;
                cycles(between);
                free_all(false);
            }
            free_all(true);
            const long off = click_off();
            const Memory now = memory();
            first = quarter == 1 ? now : first;
            const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
            std::printf(
                "%.3f h of audio in %.0f s (%.0f times real time): %.1f MiB, %.2f allocated, %llu packets, a click %ld "
                "frames off\n",
                heard() / 3600, wall, heard() / wall, now.resident, now.allocated,
                static_cast<unsigned long long>(sent_), off);
            std::fflush(stdout);
            well = well && off == 0 && now.resident <= growth * first.resident + slack &&
                   now.allocated <= first.allocated + allocated_slack;
        }
        return well;
    }

private:
    double heard() { return double(host_.position().clock.position) / rate; }
    void cycle() {
        host_.cycle(quantum);
        node_->output(0).clear();
    }
    void cycles(double seconds) {
        for (double left = seconds; left > 0; left -= quantum / rate)
            cycle();
    }
    /// Until everything that was sent is done.
    void settle() {
        // An answer to an older one, sent twice, says nothing of this one.
        const int32_t first = ++syncs_;
        client_->send(osc_message("/sync", {first}));
        for (int turn = 1;; ++turn) {
            cycle();
            int32_t id = 0;
            for (std::string address; !(address = client_->receive(1, &id)).empty();)
                if (address == "/synced" && id >= first)
                    return;
            if (turn % 500 == 0) // its answer, or it itself, was lost
                client_->send(osc_message("/sync", {++syncs_}));
            if (turn > 20000)
                throw std::runtime_error("/sync isn't answered; the log says:\n" + host_.log().all());
        }
    }
    void free_all(bool buffers) {
        for (const char* address : {"/clearSched", "/dumpOSC"})
            client_->send(osc_message(address, {0}));
        client_->send(osc_message("/g_freeAll", {0}));
        client_->send(osc_message("/n_run", {0, 1}));
        if (buffers) {
            client_->send(osc_message("/d_freeAll"));
            for (int i = 0; i < 1024; ++i) {
                client_->send(osc_message("/b_free", {i}));
                if (i % 64 == 63)
                    settle();
            }
        }
        settle();
        host_.main().run_until([] { return true; }, 1);
        host_.log().forget();
    }
    /// How many frames a click comes from where it is to be.
    long click_off() {
        const std::vector<DefUnit> click = {{"Impulse", {{-1, 0}, {-1, 0}}}, {"OffsetOut", {{-1, 0}, {0, 0}}, false}};
        client_->send(osc_message("/d_recv", {synthdef_file("click", click)}));
        settle();
        const uint64_t start = host_.position().clock.position;
        const uint64_t ahead = 48000 + random_() % quantum;
        // The host's clock loses what is left of a nanosecond in each cycle.
        const double lost = double(start) - double(host_.position().clock.nsec - first_nsec) * rate / 1e9;
        client_->send(osc_bundle(tag(double(start + ahead) - lost), {osc_message("/s_new", {"click", 1000, 0, 0})}));
        std::vector<float>& sound = node_->output(0);
        settle(); // so that it has arrived long before it is due
        const uint64_t before = host_.position().clock.position;
        for (double left = 3; left > 0; left -= quantum / rate)
            host_.cycle(quantum);
        const auto found = std::find_if(sound.begin(), sound.end(), [](float x) { return std::abs(x) > 0.5f; });
        const long at = found - sound.begin() + long(before);
        client_->send(osc_message("/n_free", {1000}));
        settle();
        return at - long(start + ahead);
    }

    std::vector<Bytes> packets_;
    double seconds_;
    std::mt19937 random_;
    Host host_;
    ScriptedCycles cycles_;
    std::unique_ptr<HostNode> node_;
    std::unique_ptr<OscClient> client_, stranger_; ///< who sends the packets never reads an answer
    uint64_t sent_ = 0;
    int32_t syncs_ = 0;
};

} // namespace

int main(int count, char** args) {
    if (count != 5) {
        std::puts("soak PACKETS SECONDS SEED FOLDER: see tests/hostile/soak.py");
        return 2;
    }
    // Otherwise the C library keeps what large buffers had, gives some of its pages back in memory()'s trim, and counts
    // these as free all the same.
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    try {
        return Soak(args[1], std::atof(args[2]), uint32_t(std::atoi(args[3])), args[4]).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
}

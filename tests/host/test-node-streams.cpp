// SPDX-License-Identifier: GPL-3.0-or-later
// The real node while files stream, with empty files, slow ones and one that doesn't answer: removed and told to quit
// at any moment.
#include "engine/world/test-streams.hpp"
#include "playing.hpp"

#include <fstream>
#include <optional>

using namespace scs::test;

namespace {

constexpr int streams = 100, frames = 8192; ///< of a buffer

/// SCS_TEST_ROUNDS, or 500 of each kind with SCS_LONG.
int rounds() {
    if (const char* given = std::getenv("SCS_TEST_ROUNDS"))
        return std::atoi(given);
    return std::getenv("SCS_LONG") ? 500 : 6;
}

/// Files of all lengths.
struct Files : Folder {
    std::vector<std::string> names;
    Files() {
        for (const auto& [name, length] : {std::pair{"empty", 0},
                                           {"one", 1},
                                           {"short", 1000},
                                           {"buffer", frames},
                                           {"long", 480'000},
                                           {"slow", 480'000},
                                           {"dead", 480'000}}) {
            names.push_back(*this / (std::string(name) + ".wav"));
            write_file(names.back(), std::vector<float>(size_t(length), 0.001f));
        }
        slow_inode = inode_of(*this / "slow.wav");
    }
    ~Files() { slow_inode = 0; }
    std::string recorded(int number) const { return *this / ("recorded " + std::to_string(number) + ".wav"); }
};

/// A hundred buffers: of four, one records, and three play, half of them in a loop.
void stream_all(Playing& p, const Files& files) {
    p.client->send(osc_message("/d_loadDir", {std::string(std::getenv("SCS_STREAM_DEFS"))}));
    for (int number = 0; number < streams; ++number) {
        if (number % 20 == 0)
            REQUIRE(p.client->sync()); // so that no datagram is lost
        const bool records = number % 4 == 0;
        const std::string& path = files.names[size_t(number) % files.names.size()];
        const char* const play = number % 2 ? "test_vdisk_in" : "test_disk_in";
        p.client->send(osc_message("/b_alloc", {number, frames, records ? 2 : 1}));
        p.client->send(records ? osc_message("/b_write", {number, files.recorded(number), "wav", "float", 0, 0, 1})
                               : osc_message("/b_read", {number, path, 0, -1, 0, 1}));
        p.client->send(records
                           ? osc_message("/s_new", {"test_disk_out", 1000 + number, 1, 0, "buf", number})
                           : osc_message("/s_new", {play, 1000 + number, 0, 0, "buf", number, "loop", number % 8 / 4}));
    }
}

std::string block_size(int round) {
    return round % 3 == 2 ? "32" : "64";
}

void play(Host& host, int cycles) {
    for (int i = 0; i < cycles; ++i) {
        host.cycle(1024);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int streaming_threads() {
    int count = 0;
    std::error_code ignored; // a thread may have ended
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        count += name == "scsynth-streams";
    }
    return count;
}

} // namespace

TEST_CASE("nodes are removed while a hundred files stream") {
    Host host(library());
    const Files files;
    for (int round = 0; round < rounds(); ++round) {
        std::optional<DeadFile> dead;
        {
            Playing p(host, {{"scsynth.block-size", block_size(round)}});
            p.node->link(out, 0);
            p.node->start();
            stream_all(p, files);
            if (round % 4) { // otherwise while files are opened
                p.settle(1024);
                CHECK(streaming_threads() > 0);
            }
            if (round % 2)
                dead.emplace(files / "dead.wav");
            play(host, round % 7 * 4);
        }
        // What was left behind goes on with a node that has gone.
        dead.reset();
        REQUIRE(comes_true([] { return held == 0; }));
    }
    CHECK(comes_true([] { return streaming_threads() == 0; }));
}

TEST_CASE("nodes are told to quit while a hundred files stream") {
    Host host(library());
    const Files files;
    for (int round = 0; round < rounds(); ++round) {
        std::optional<DeadFile> dead;
        Playing p(host, {{"scsynth.block-size", block_size(round)}, {"scsynth.allow-quit", "true"}});
        p.node->link(out, 0);
        p.node->start();
        stream_all(p, files);
        const bool settled = round % 4;
        if (settled)
            p.settle(1024);
        if (round % 2)
            dead.emplace(files / "dead.wav");
        play(host, round % 7 * 4);
        p.client->send(osc_message("/quit"));
        const auto quit = [&] {
            play(host, round % 3); // also without any cycle
            return p.node->properties["scsynth.state"] == "quit";
        };
        REQUIRE_MESSAGE(host.main().run_until(quit, 60000), "round " << round);
        if (settled && !dead) {
            const auto recorded = read_file(files.recorded(0)); // frame numbers, and what sounds
            for (size_t i = 2; i < recorded.size(); i += 2)
                REQUIRE(recorded[i] > recorded[i - 2]);
        }
        p.node.reset();
        dead.reset();
        REQUIRE(comes_true([] { return held == 0; }));
    }
    CHECK(comes_true([] { return streaming_threads() == 0; }));
}

TEST_CASE("all that was recorded is in the file when the node has been removed") {
    Host host(library());
    for (const int cycles : {100, 700}) { // in the first half of the buffer, and in the second
        const Folder folder;
        const std::string path = folder / "a.wav";
        Playing p(host);
        p.define("record", {{"DC", {{-1, 1}}},
                            {"Integrator", {{0, 0}, {-1, 1}}},
                            {"DiskOut", {{-1, 0}, {1, 0}}},
                            {"Out", {{-1, 0}, {1, 0}}, false}});
        p.client->send(osc_message("/b_alloc", {0, 65536, 1}));
        p.client->send(osc_message("/b_write", {0, path, "wav", "float", 0, 0, 1}));
        p.play("record", 1000);
        p.node->link(out, 0);
        p.node->start();
        host.cycles(cycles, 64);
        const auto count = int64_t(p.node->output(0).back());
        CHECK(count == cycles * 64);
        p.node.reset();
        CHECK(comes_true([&] {
            auto file = scs::SoundFile::open(path);
            return file && file.value().info().frames == count;
        }));
        CHECK(read_file(path) == numbers(count));
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/test-sanitized.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/reply-address.hpp"
#include "osc/codec/compose.hpp"
#include "osc/plugin-post.hpp"
#include "osc/plugin-turn.hpp"
#include "osc/test-rig.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <malloc.h>
#include <semaphore>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

using namespace std::chrono_literals;

volatile int* volatile nowhere = nullptr;

/// What a job of the plugin below does, by the command's first argument.
enum Deed {
    nothing,
    blocks,
    answers_later,
    prints,
    crashes_2,
    crashes_3,
    crashes_4,
    crashes_5,
    refuses_2,
    refuses_3,
    chatters,
    spins,
    naps,             ///< for 0.7 s
    sends_at_the_end, ///< a message to the data loop, from its cleanup
    watches           ///< what it doesn't change itself: the memory of buffer 7
};

std::binary_semaphore go_on{0};
std::atomic<int> begun{0}, cleaned{0}, inside{0};
std::atomic<int> priority{0};   ///< of the thread that did a job last
std::atomic<int> nap_ended{-1}; ///< what its sleep returned
std::atomic<bool> met{false};   ///< two jobs at once
std::atomic<bool> sent{false};  ///< that message
std::atomic<bool> taken{false}; ///< what a job watched has changed

struct Job {
    Deed deed;
    ReplyAddress address;
};

void send_reply(ReplyAddress address, const char* path, int number) {
    ReplyComposer composer;
    const ReplyArg arg = int32_t(number);
    const auto bytes = composer.compose(path, {&arg, 1});
    std::vector<char> copy(bytes.value().size());
    std::memcpy(copy.data(), bytes.value().data(), copy.size());
    address.first_function(&address, copy.data(), int(copy.size()));
}

bool second_stage(::World* world, void* data) {
    const Job& job = *static_cast<Job*>(data);
    priority = getpriority(PRIO_PROCESS, 0);
    met = inside.fetch_add(1) > 0 || met;
    ++begun;
    begun.notify_all();
    switch (job.deed) {
    case blocks:
    case sends_at_the_end: go_on.acquire(); break;
    case watches: {
        const float* const before = World_GetNRTBuf(world, 7)->data;
        go_on.acquire();
        taken = World_GetNRTBuf(world, 7)->data != before;
        break;
    }
    case answers_later: send_reply(job.address, "/now", 1); break;
    case crashes_2: *nowhere = 1; break;
    case spins:
        for (volatile int round = 0;;)
            round = round + 1;
    case naps: {
        const timespec time{0, 700'000'000};
        nap_ended = ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
        break;
    }
    case prints:
        interface_table()->fPrint("one ");
        interface_table()->fPrint("line\nand ");
        std::thread([] { interface_table()->fPrint("of a thread\n"); }).join();
        interface_table()->fPrint("another\n");
        break;
    default: break;
    }
    --inside;
    return job.deed != refuses_2;
}

bool third_stage(::World*, void* data) {
    const Deed deed = static_cast<Job*>(data)->deed;
    if (deed == crashes_3)
        *nowhere = 1;
    return deed != refuses_3;
}

bool fourth_stage(::World*, void* data) {
    const Job& job = *static_cast<Job*>(data);
    if (job.deed == crashes_4)
        *nowhere = 1;
    if (job.deed == answers_later)
        send_reply(job.address, "/later", 2);
    return true;
}

void clean_up(::World* world, void* data) {
    const Deed deed = static_cast<Job*>(data)->deed;
    if (deed == sends_at_the_end)
        std::thread([world] {
            ::FifoMsg message;
            message.Set(
                world, [](::FifoMsg*) {}, nullptr, nullptr);
            sent = interface_table()->fSendMsgToRT(world, message);
        }).join();
    ++cleaned;
    delete static_cast<Job*>(data);
    if (deed == crashes_5)
        *nowhere = 1;
}

/// deed, any numbers, completion message
void run_command(::World* world, void*, ::sc_msg_iter* args, void* from) {
    auto* job = new Job{Deed(args->geti()), *static_cast<ReplyAddress*>(from)};
    while (args->nextTag('\0') == 'i')
        args->geti();
    for (int i = 0; job->deed == chatters && i < 1000; ++i) {
        interface_table()->fPrint("again ");
        interface_table()->fPrint("and again\n");
    }
    const int bytes = args->nextTag('\0') == 'b' ? int(args->getbsize()) : 0;
    std::vector<char> completion(size_t(bytes), 0);
    if (bytes > 0)
        args->getb(completion.data(), completion.size());
    interface_table()->fDoAsynchronousCommand(world, from, "/job", job, second_stage, third_stage, fourth_stage,
                                              clean_up, bytes, completion.data());
}

struct JobRig : Rig {
    explicit JobRig(ServerSettings settings = {}) : Rig(std::move(settings)) {
        PluginRegistry::instance().define_command("job", run_command, nullptr);
        PluginRegistry::instance().define_buf_gen("testBlocks", [](::World*, ::SndBuf*, ::sc_msg_iter*) {
            ++begun;
            go_on.acquire();
        });
        PluginRegistry::instance().define_buf_gen("testSpins", [](::World*, ::SndBuf*, ::sc_msg_iter*) {
            for (volatile int round = 0;;)
                round = round + 1;
        });
        begun = cleaned = inside = 0;
        met = taken = false;
    }
};

} // namespace

TEST_CASE("while a plugin's job takes long, other jobs are done; /sync and those on its buffers wait") {
    JobRig rig;
    Client slow(rig), other(rig);
    slow.send("/cmd", {"job", int32_t(blocks), 7});
    REQUIRE(wait_until([] { return begun == 1; }));
    CHECK(priority == std::min(getpriority(PRIO_PROCESS, 0) + 5, 19)); // it gives way to the others
    slow.send("/sync", {1});
    slow.send("/b_alloc", {7, 16});
    slow.send("/b_zero", {7});
    other.send("/b_alloc", {8, 16});
    CHECK(other.receive() == "/done /b_alloc 8");
    const Bytes definition = synthdef("one", "");
    other.send("/d_recv", {std::span<const std::byte>(definition)});
    CHECK(other.receive() == "/done /d_recv");
    other.send("/b_gen", {8, "sine1", 7, 1.f}); // a plugin's code, too: it has its turn later
    other.send("/status");
    CHECK(other.receive().starts_with("/status.reply"));
    CHECK(slow.receive(0) == "");
    go_on.release();
    CHECK(slow.receive() == "/done /job");
    std::vector<std::string> rest{slow.receive(), slow.receive(), slow.receive()};
    std::sort(rest.begin(), rest.end());
    CHECK(rest == std::vector<std::string>{"/done /b_alloc 7", "/done /b_zero 7", "/synced 1"});
    CHECK(other.receive() == "/done /b_gen 8");
}

TEST_CASE("a job whose buffers aren't known keeps all buffers as they are") {
    JobRig rig;
    Client client(rig);
    client.send("/cmd", {"job", int32_t(blocks), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
    REQUIRE(wait_until([] { return begun == 1; }));
    client.send("/b_alloc", {100, 16});
    client.send("/d_free", {"nothing"});
    const Bytes definition = synthdef("one", "");
    client.send("/d_recv", {std::span<const std::byte>(definition)});
    CHECK(client.receive() == "/done /d_recv");
    go_on.release();
    CHECK(client.receive() == "/done /job");
    CHECK(client.receive() == "/done /b_alloc 100");
}

TEST_CASE("/sync waits for no command of a plugin that came after it") {
    JobRig rig;
    Client client(rig), other(rig);
    client.send("/b_alloc", {6, 16});
    CHECK(client.receive() == "/done /b_alloc 6");
    client.send("/b_gen", {6, "testBlocks", 7});
    REQUIRE(wait_until([] { return begun == 1; }));
    client.send("/b_alloc", {7, 16});
    client.send("/sync", {1});
    client.send("/cmd", {"job", int32_t(blocks), 8});
    client.send("/status");
    CHECK(client.receive().starts_with("/status.reply"));
    other.send("/b_alloc", {9, 16}); // done when the worker has looked at all of them
    CHECK(other.receive() == "/done /b_alloc 9");
    go_on.release();
    std::vector<std::string> answers{client.receive(), client.receive(), client.receive()};
    std::sort(answers.begin(), answers.end());
    CHECK(answers == std::vector<std::string>{"/done /b_alloc 7", "/done /b_gen 6", "/synced 1"});
    CHECK(wait_until([] { return begun == 2; }));
    go_on.release();
    CHECK(client.receive() == "/done /job");
}

TEST_CASE("/quit takes no buffer from a plugin's job") {
    for (const bool ends : {true, false}) {
        CAPTURE(ends);
        ServerSettings settings;
        settings.allow_quit = ends;
        JobRig rig(settings);
        Client client(rig);
        client.send("/b_alloc", {7, 16});
        CHECK(client.receive() == "/done /b_alloc 7");
        client.send("/cmd", {"job", int32_t(watches), 7});
        REQUIRE(wait_until([] { return begun == 1; }));
        client.send("/quit");
        if (ends) {
            CHECK(client.receive() == "/done /quit");
            CHECK(rig.wait_for_quit());
        } else {
            client.send("/b_alloc", {7, 32});
            CHECK(client.receive(200) == "");
        }
        go_on.release();
        if (!ends) {
            std::vector<std::string> answers{client.receive(), client.receive(), client.receive()};
            std::sort(answers.begin(), answers.end());
            CHECK(answers == std::vector<std::string>{"/done /b_alloc 7", "/done /job", "/done /quit"});
        }
        CHECK(wait_until([] { return inside == 0; }));
        CHECK_FALSE(taken);
    }
}

TEST_CASE("all numbers among a generator's arguments may be buffers") {
    JobRig rig;
    Client client(rig);
    client.send("/b_alloc", {8, 16});
    CHECK(client.receive() == "/done /b_alloc 8");
    client.send("/b_gen", {8, "testBlocks", 5, 6.f, 7.});
    REQUIRE(wait_until([] { return begun == 1; }));
    for (int buffer = 4; buffer < 8; ++buffer)
        client.send("/b_alloc", {buffer, 16});
    CHECK(client.receive() == "/done /b_alloc 4");
    client.send("/d_free", {"nothing"});
    CHECK(client.receive(300) == "");
    go_on.release();
    CHECK(client.receive() == "/done /b_gen 8");
    for (int buffer = 5; buffer < 8; ++buffer)
        CHECK(client.receive() == "/done /b_alloc " + std::to_string(buffer));
}

TEST_CASE("/synced comes after the answers of all commands of plugins before it") {
    JobRig rig;
    Client client(rig);
    for (int i = 0; i < 100; ++i) {
        const auto deed = i % 3 == 2 ? answers_later : nothing;
        client.send("/cmd", {"job", int32_t(deed)});
        client.send("/sync", {i});
        if (deed == answers_later) {
            CHECK(client.receive() == "/now 1");
            CHECK(client.receive() == "/later 2");
        }
        CHECK(client.receive() == "/done /job");
        CHECK(client.receive() == "/synced " + std::to_string(i));
    }
    client.send("/cmd", {"job", int32_t(refuses_2)});
    client.send("/cmd", {"job", int32_t(refuses_3)});
    client.send("/sync", {100});
    CHECK(client.receive() == "/synced 100");
    CHECK(wait_until([] { return cleaned == 102; }));
}

TEST_CASE("the completion message runs before the fourth stage") {
    JobRig rig;
    Client client(rig);
    for (int i = 0; i < 20; ++i) {
        const Bytes completion = message("/c_get", {3});
        client.send("/cmd", {"job", int32_t(answers_later), std::span<const std::byte>(completion)});
        CHECK(client.receive() == "/now 1");
        CHECK(client.receive() == "/c_set 3 0f");
        CHECK(client.receive() == "/later 2");
        CHECK(client.receive() == "/done /job");
    }
    const Bytes completion = message("/c_get", {3});
    client.send("/cmd", {"job", int32_t(refuses_3), std::span<const std::byte>(completion)});
    const Bytes malformed(7, std::byte(1));
    client.send("/cmd", {"job", int32_t(nothing), std::span<const std::byte>(malformed)});
    CHECK(client.receive() == "/done /job");
    CHECK(client.until_synced().empty());
    CHECK(rig.log().find("completion message is malformed") != std::string::npos);
}

TEST_CASE("what a plugin's command has left to do comes before commands that haven't begun") {
    JobRig rig;
    Client client(rig), other(rig);
    client.send("/cmd", {"job", int32_t(answers_later)});
    client.send("/cmd", {"job", int32_t(blocks)});
    client.send("/cmd", {"job", int32_t(answers_later)});
    REQUIRE(wait_until([] { return begun == 2; }));
    for (int i = 100; i < 103; ++i) { // until the first one's fourth stage waits, too
        other.send("/b_alloc", {i, 16});
        CHECK(other.receive() == "/done /b_alloc " + std::to_string(i));
    }
    go_on.release();
    std::vector<std::string> answers;
    for (int i = 0; i < 7; ++i)
        answers.push_back(client.receive());
    CHECK(std::count(answers.begin(), answers.end(), "/done /job") == 3);
    std::erase(answers, "/done /job");
    CHECK(answers == std::vector<std::string>{"/now 1", "/later 2", "/now 1", "/later 2"});
}

TEST_CASE("a plugin's job that takes longer than the limit is ended, and told") {
    ServerSettings settings;
    settings.plugin_job_limit = 1;
    JobRig rig(settings), other;
    Client client(rig), second(other);
    const auto next_is_done = [&] {
        client.send("/cmd", {"job", int32_t(nothing)});
        CHECK(client.receive() == "/done /job");
    };
    client.send("/cmd", {"job", int32_t(spins)});
    REQUIRE(wait_until([] { return begun == 1; }));
    second.send("/cmd", {"job", int32_t(nothing)});
    CHECK(client.receive() == "/fail /cmd /job took too long in its second stage");
    CHECK(rig.log().find("FAILURE IN SERVER /cmd /job took too long in its second stage") != std::string::npos);
    CHECK(second.receive() == "/done /job"); // another server's waited for it
    next_is_done();

    client.send("/cmd", {"job", int32_t(blocks)}); // waits, and uses no processor time
    CHECK(client.receive() == "/fail /cmd /job took too long in its second stage");
    next_is_done();

    client.send("/b_alloc", {5, 16});
    CHECK(client.receive() == "/done /b_alloc 5");
    client.send("/b_gen", {5, "testSpins"});
    CHECK(client.receive() == "/fail /b_gen buf gen routine 'testSpins' took too long");
    next_is_done();
}

TEST_CASE("within its limit a plugin's job sleeps undisturbed") {
    ServerSettings settings;
    settings.plugin_job_limit = 1;
    JobRig rig(settings);
    Client client(rig);
    client.send("/cmd", {"job", int32_t(naps)});
    CHECK(client.receive() == "/done /job");
    CHECK(nap_ended == 0);
}

TEST_CASE("who waits long for another server's job is told") {
    std::atomic<bool> told{false};
    std::string line;
    PluginTurn first("the first server", {}, 1h);
    PluginTurn second(
        "the second server",
        [&](const std::string& text) {
            line = text;
            told = true;
        },
        20ms);
    REQUIRE(first.take());
    std::thread waits([&] {
        CHECK(second.take());
        second.give();
    });
    CHECK(wait_until([&] { return told.load(); }));
    CHECK(line.starts_with("plugins' jobs of the second server have waited 0 s for one of the first server"));
    first.give();
    waits.join();
}

TEST_CASE("a crash in any stage is told, and ends that command alone") {
    JobRig rig;
    Client client(rig);
    const char* const stages[] = {"second stage", "third stage", "fourth stage"};
    for (int i = 0; i < 3; ++i) {
        client.send("/cmd", {"job", int32_t(crashes_2 + i)});
        const std::string what = std::string("/job crashed in its ") + stages[i];
        CHECK(client.receive() == "/fail /cmd " + what);
        CHECK(rig.log().find("FAILURE IN SERVER /cmd " + what) != std::string::npos);
        CHECK(client.until_synced().empty());
    }
    client.send("/cmd", {"job", int32_t(crashes_5)});
    CHECK(client.receive() == "/done /job");
    CHECK(client.receive() == "/fail /cmd /job crashed in its cleanup");
    client.send("/cmd", {"job", int32_t(nothing)});
    CHECK(client.receive() == "/done /job");
    CHECK(wait_until([] { return cleaned == 5; }));
}

TEST_CASE("what plugins print on other threads comes where the server prints, as whole lines") {
    JobRig rig;
    Client client(rig);
    client.send("/cmd", {"job", int32_t(prints)});
    CHECK(client.receive() == "/done /job");
    CHECK(rig.log() == "one line\nof a thread\nand another\n");
}

TEST_CASE("of a thousand lines that a plugin prints on the data loop there is a part") {
    JobRig rig;
    Client client(rig);
    const auto began = std::chrono::steady_clock::now();
    client.send("/cmd", {"job", int32_t(chatters)});
    CHECK(client.receive() == "/done /job");
    client.until_synced();
    const auto tenths = (std::chrono::steady_clock::now() - began) / 100ms;
    const std::string log = rig.log();
    const auto lines = std::count(log.begin(), log.end(), '\n');
    CHECK(log.starts_with("again and again\n"));
    CHECK(lines >= 1);
    CHECK(lines <= 51 + tenths);
}

TEST_CASE("real-time memory is kept ahead of its use while plugins' jobs keep coming") {
    ServerSettings settings;
    settings.engine.rt_memory_kib = 256 << 10;
    JobRig rig(settings);
    PluginRegistry::instance().define_command(
        "allocate",
        [](::World* world, void*, ::sc_msg_iter*, void*) { (void)interface_table()->fRTAlloc(world, 50 << 20); },
        nullptr);
    const auto resident = [] { // MiB
        size_t all = 0, in_memory = 0;
        std::ifstream("/proc/self/statm") >> all >> in_memory;
        return in_memory * size_t(sysconf(_SC_PAGESIZE)) >> 20;
    };
    Client client(rig);
    client.send("/cmd", {"job", int32_t(nothing)});
    CHECK(client.receive() == "/done /job");
    const size_t before = resident();
    client.send("/cmd", {"allocate", 0});
    CHECK(wait_until([&] {
        client.send("/cmd", {"job", int32_t(nothing)});
        CHECK(client.receive() == "/done /job");
        return resident() >= before + 40;
    }));
}

TEST_CASE("jobs of two servers take turns") {
    JobRig rig;
    {
        JobRig second;
        Client a(rig), b(second);
        a.send("/cmd", {"job", int32_t(blocks)});
        REQUIRE(wait_until([] { return begun == 1; }));
        b.send("/cmd", {"job", int32_t(nothing)});
        b.send("/b_alloc", {1, 16}); // the second server's other jobs go on
        CHECK(b.receive() == "/done /b_alloc 1");
        CHECK(begun == 1);
        go_on.release();
        CHECK(a.receive() == "/done /job");
        CHECK(b.receive() == "/done /job");
        CHECK_FALSE(met);
    }
}

TEST_CASE("a server ends beside a job, whose thread is left behind, and may answer later") {
    auto rig = std::make_unique<JobRig>();
    auto other = std::make_unique<JobRig>();
    Client client(*rig), again(*other);
    client.send("/cmd", {"job", int32_t(blocks), 7});
    REQUIRE(wait_until([] { return begun == 1; }));
    client.send("/b_alloc", {7, 1 << 20});
    client.send("/cmd", {"job", int32_t(answers_later)});
    client.send("/status");
    CHECK(client.receive().starts_with("/status.reply"));
    rig->stop_cycles();
    const auto before = std::chrono::steady_clock::now();
    rig.reset();
    CHECK(std::chrono::steady_clock::now() - before < 5s);
    // The others needn't wait for it.
    again.send("/cmd", {"job", int32_t(nothing)});
    CHECK(again.receive() == "/done /job");
    go_on.release();
    CHECK(wait_until([] { return cleaned == 3; })); // the engine is gone now, too
    CHECK(client.receive(0) == "");
}

TEST_CASE("an address may be used when its client or its server is gone") {
    ReplyAddress address;
    {
        JobRig rig;
        Client client(rig);
        static ReplyAddress kept;
        PluginRegistry::instance().define_command(
            "keepAddress",
            [](::World*, void*, ::sc_msg_iter*, void* from) { kept = *static_cast<ReplyAddress*>(from); }, nullptr);
        client.send("/cmd", {"keepAddress", 0});
        CHECK(client.until_synced().empty());
        address = kept;
        send_reply(address, "/kept", 3);
        CHECK(client.receive() == "/kept 3");
    }
    send_reply(address, "/kept", 4);
}

TEST_CASE("a flood of replies is bounded, and what is lost is said") {
    JobRig rig;
    Client client(rig);
    static ReplyAddress kept;
    PluginRegistry::instance().define_command(
        "flood",
        [](::World*, void*, ::sc_msg_iter*, void* from) {
            kept = *static_cast<ReplyAddress*>(from);
            std::vector<char> packet(PluginPost::most_bytes + 1, 'x');
            std::thread([&] {
                kept.second_function(&kept, packet.data(), int(packet.size()));
                kept.second_function(&kept, packet.data(), 100'000); // longer than a datagram
            }).join();
        },
        nullptr);
    client.send("/cmd", {"flood", 0});
    CHECK(client.until_synced().empty());
    for (const char* what : {"too much at once: 1 replies or lines are lost", "100000 bytes, is lost"})
        CHECK(wait_until([&] { return rig.log().find(what) != std::string::npos; }));
}

TEST_CASE("a plugin's thread may use its world when the engine is gone") {
    static ::World* kept = nullptr;
    {
        JobRig rig;
        Client client(rig);
        PluginRegistry::instance().define_command(
            "keepWorld", [](::World* world, void*, ::sc_msg_iter*, void*) { kept = world; }, nullptr);
        client.send("/cmd", {"keepWorld", 0});
        CHECK(client.until_synced().empty());
        CHECK(kept->mRunning);
    }
    CHECK_FALSE(kept->mRunning);
    ::FifoMsg message;
    message.Set(
        kept, [](::FifoMsg*) { FAIL("performed"); }, nullptr, nullptr);
    CHECK_FALSE(interface_table()->fSendMsgToRT(kept, message));
    interface_table()->fNRTLock(kept);
    CHECK(World_GetNRTBuf(kept, 5)->data == nullptr);
    interface_table()->fNRTUnlock(kept);
}

TEST_CASE("a plugin's thread can't send messages while its engine ends") {
    for (const bool ends : {false, true}) {
        CAPTURE(ends);
        sent = false;
        auto rig = std::make_unique<JobRig>();
        Client client(*rig);
        client.send("/cmd", {"job", int32_t(sends_at_the_end)});
        REQUIRE(wait_until([] { return begun == 1; }));
        if (ends) {
            rig->stop_cycles();
            rig.reset();
        }
        go_on.release();
        CHECK(wait_until([] { return cleaned == 1; }));
        CHECK(sent == !ends);
    }
}

TEST_CASE("messages between the threads that crash end nothing else") {
    JobRig rig;
    Client client(rig);
    PluginRegistry::instance().define_command(
        "messages",
        [](::World* world, void*, ::sc_msg_iter* args, void*) {
            ::FifoMsg message;
            if (args->geti() == 0)
                message.Set(
                    world, [](::FifoMsg*) { *nowhere = 1; }, [](::FifoMsg*) { *nowhere = 1; }, nullptr);
            else
                message.Set(
                    world,
                    [](::FifoMsg* m) {
                        ::FifoMsg back;
                        back.Set(
                            m->mWorld, [](::FifoMsg*) { *nowhere = 1; }, [](::FifoMsg*) { *nowhere = 1; }, nullptr);
                        interface_table()->fSendMsgToRT(m->mWorld, back);
                    },
                    nullptr, nullptr);
            interface_table()->fSendMsgFromRT(world, message);
        },
        nullptr);
    client.send("/cmd", {"messages", 0});
    client.send("/cmd", {"messages", 1});
    CHECK(client.until_synced().empty());
    for (const char* what : {"message crashed", "crashed when it was freed", "crashed on the data loop"})
        CHECK(wait_until([&] { return rig.log().find(what) != std::string::npos; }));
    CHECK(client.until_synced().empty());
}

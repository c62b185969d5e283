// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the calls that packs of UGens make and SuperCollider's own plugins don't: FluCoMa's (commands of minutes,
// addresses that threads of its own answer by, data sets in static memory,
// caches of threads, buffers with memory of its own), VSTPlugin's
// (text from many threads, processes), mi-UGens' (memory that constructors take). Built as a pack is: with
// SuperCollider's headers and boost alone.
#include <SC_PlugIn.h>

#include <boost/asio/ip/address.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unordered_map>
#include <utility>
#include <vector>

extern char** environ;

/// scsynth's, whose header isn't installed.
struct ReplyAddress {
    boost::asio::ip::address address;
    int protocol, port, socket;
    void (*function)(ReplyAddress*, char*, int);
    void* data;
};
// By boost's release: see src/engine/plugins/reply-address.hpp.
static_assert(sizeof(ReplyAddress) == 64 || sizeof(ReplyAddress) == 56);

static InterfaceTable* ft;

namespace {

volatile int* volatile nowhere = nullptr;

/// A message of integers.
void answer(const ReplyAddress& to, const char* address, std::vector<int> numbers) {
    std::string packet(address);
    const auto pad = [&] { packet.append(4 - packet.size() % 4, '\0'); };
    pad();
    packet += ',' + std::string(numbers.size(), 'i');
    pad();
    for (const int number : numbers)
        for (int shift = 24; shift >= 0; shift -= 8)
            packet += char(number >> shift);
    ReplyAddress copy = to;
    copy.function(&copy, packet.data(), int(packet.size()));
}

/// The data of a command, and what its stages are.
struct Job {
    virtual ~Job() = default;
    virtual bool second(World*) { return true; }
    virtual bool third(World*) { return true; }
    virtual bool fourth(World*) { return true; }
    virtual void clean_up() {}
    ReplyAddress from;
    const char* name;
};

template <class T>
void run(World* world, void* name, sc_msg_iter* args, void* from) {
    auto* job = new T;
    job->from = *static_cast<ReplyAddress*>(from);
    job->name = static_cast<const char*>(name);
    job->read(*args);
    std::vector<char> completion(args->nextTag('\0') == 'b' ? args->getbsize() : 0);
    if (!completion.empty())
        args->getb(completion.data(), completion.size());
    (*ft->fDoAsynchronousCommand)(
        world, from, job->name, static_cast<Job*>(job),
        [](World* w, void* data) { return static_cast<Job*>(data)->second(w); },
        [](World* w, void* data) { return static_cast<Job*>(data)->third(w); },
        [](World* w, void* data) { return static_cast<Job*>(data)->fourth(w); },
        [](World*, void* data) {
            static_cast<Job*>(data)->clean_up();
            delete static_cast<Job*>(data);
        },
        int(completion.size()), completion.data());
}

/// number of threads, and how often each answers, after the command is long done
struct Answers final : Job {
    void read(sc_msg_iter& args) {
        threads = args.geti();
        times = args.geti();
    }
    bool fourth(World*) override {
        for (int t = 0; t < threads; ++t)
            std::thread([to = from, t, times = times] {
                for (int i = 0; i < times; ++i) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    answer(to, "/pack/answer", {t, i});
                }
            }).detach();
        return true;
    }
    int threads = 0, times = 0;
};

/// buffer, frames: its memory becomes this plugin's
struct Swaps final : Job {
    void read(sc_msg_iter& args) {
        buffer = uint32(args.geti());
        frames = args.geti();
    }
    bool second(World* world) override {
        SndBuf* latest = World_GetNRTBuf(world, buffer);
        old = latest->data;
        const size_t bytes = (size_t(frames) * sizeof(float) + 63) / 64 * 64;
        latest->data = static_cast<float*>(std::aligned_alloc(64, bytes));
        for (int i = 0; i < frames; ++i)
            latest->data[i] = float(i);
        latest->frames = latest->samples = frames;
        latest->channels = 1;
        return true;
    }
    bool third(World* world) override {
        *World_GetBuf(world, buffer) = *World_GetNRTBuf(world, buffer);
        ++world->mSndBufUpdates[buffer].writes;
        return true;
    }
    bool fourth(World*) override {
        std::free(old);
        return true;
    }
    uint32 buffer = 0;
    int frames = 0;
    float* old = nullptr;
};

double processor_seconds() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

/// hundredths of seconds of processor time, and a buffer to read meanwhile
struct Computes final : Job {
    void read(sc_msg_iter& args) {
        seconds = args.geti() / 100.;
        buffer = uint32(args.geti());
    }
    bool second(World* world) override {
        answer(from, "/pack/begins", {});
        volatile float sum = 0;
        for (const double end = processor_seconds() + seconds; processor_seconds() < end;) {
            const SndBuf* latest = World_GetNRTBuf(world, buffer);
            for (int i = 0; i < latest->samples; ++i)
                sum = sum + latest->data[i];
        }
        return true;
    }
    double seconds = 0;
    uint32 buffer = 0;
};

/// Data sets live as long as the process, in memory that no lock protects.
std::map<int, std::vector<int>>& data_sets() {
    static std::map<int, std::vector<int>> all;
    return all;
}

/// number of a data set, a value to add
struct Adds final : Job {
    void read(sc_msg_iter& args) {
        id = args.geti();
        value = args.geti();
    }
    bool second(World*) override {
        data_sets()[id].push_back(value);
        return true;
    }
    bool fourth(World*) override {
        int sum = 0;
        for (const int each : data_sets()[id])
            sum += each;
        answer(from, "/pack/sum", {id, sum});
        return false;
    }
    int id = 0, value = 0;
};

/// the stage that crashes: 2 to 5
struct Crashes final : Job {
    void read(sc_msg_iter& args) { stage = args.geti(); }
    void reach(int number) const {
        if (stage == number)
            *nowhere = number;
    }
    bool second(World*) override { return reach(2), true; }
    bool third(World*) override { return reach(3), true; }
    bool fourth(World*) override { return reach(4), true; }
    void clean_up() override { reach(5); }
    int stage = 0;
};

/// how many threads print a line in pieces
struct Prints final : Job {
    void read(sc_msg_iter& args) { count = args.geti(); }
    bool second(World*) override {
        std::vector<std::thread> threads;
        for (int t = 0; t < count; ++t)
            threads.emplace_back([t] {
                for (const char* piece : {"pieces", " of", " thread"}) {
                    Print("%s", piece);
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                }
                Print(" %d\n", t);
            });
        for (std::thread& thread : threads)
            thread.join();
        return true;
    }
    int count = 0;
};

/// Runs a program, as a search for plugins does, and answers its exit status.
struct Spawns final : Job {
    void read(sc_msg_iter&) {}
    bool second(World*) override {
        char shell[] = "/bin/sh", option[] = "-c", script[] = "exit 7";
        char* const words[] = {shell, option, script, nullptr};
        pid_t child;
        int status = 0;
        if (posix_spawn(&child, shell, nullptr, nullptr, words, environ) != 0 || waitpid(child, &status, 0) != child)
            return false;
        answer(from, "/pack/status", {WEXITSTATUS(status)});
        return true;
    }
};

/// A thread of the plugin's own computes; when it is done it comes back by way of the data loop.
struct Returns final : Job {
    void read(sc_msg_iter& args) { number = args.geti(); }
    bool second(World* world) override {
        std::thread([world, to = from, number = number] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            struct Result {
                ReplyAddress to;
                int number;
            };
            FifoMsg message;
            message.Set(
                world,
                [](FifoMsg* m) {
                    auto* result = static_cast<Result*>(m->mData);
                    (*ft->fDoAsynchronousCommand)(
                        m->mWorld, &result->to, "/pack/returned", result,
                        [](World*, void* data) {
                            const auto& r = *static_cast<Result*>(data);
                            answer(r.to, "/pack/result", {r.number});
                            return true;
                        },
                        nullptr, nullptr, [](World*, void* data) { delete static_cast<Result*>(data); }, 0, nullptr);
                },
                nullptr, new Result{to, number});
            if (!world->mRunning)
                return;
            (*ft->fNRTLock)(world);
            (*ft->fSendMsgToRT)(world, message);
            (*ft->fNRTUnlock)(world);
        }).detach();
        return true;
    }
    int number = 0;
};

/// Gives a container memory from a world.
template <class T>
struct WorldAllocator {
    using value_type = T;
    explicit WorldAllocator(World* w) : world(w) {}
    template <class U>
    WorldAllocator(const WorldAllocator<U>& other) : world(other.world) {}

    T* allocate(size_t count) {
        if (void* memory = RTAlloc(world, count * sizeof(T)))
            return static_cast<T*>(memory);
        throw std::bad_alloc();
    }
    void deallocate(T* memory, size_t) { RTFree(world, memory); }
    bool operator==(const WorldAllocator&) const = default;
    World* world;
};

/// What a thread keeps until it ends, in memory of the world with which it asked first.
using Cache = std::unordered_map<int, int, std::hash<int>, std::equal_to<>, WorldAllocator<std::pair<const int, int>>>;

Cache& cache(World* world) {
    thread_local Cache mine{WorldAllocator<Cache::value_type>(world)};
    return mine;
}

/// how many numbers, from the first on: kept by the data loop's thread and by that of jobs; answers how many of all
/// that were ever kept are there
struct Keeps final : Job {
    void read(sc_msg_iter& args) {
        count = args.geti();
        first = args.geti();
    }
    int keep(World* world) const {
        Cache& mine = cache(world);
        for (int i = first; i < first + count; ++i)
            mine.emplace(i, -i);
        int right = 0;
        for (const auto& [key, value] : mine)
            right += value == -key && mine.find(key) != mine.end();
        return right;
    }
    bool second(World* world) override {
        by_jobs = keep(world);
        return true;
    }
    bool third(World* world) override {
        by_loop = keep(world);
        return true;
    }
    bool fourth(World*) override {
        answer(from, "/pack/kept", {by_loop, by_jobs});
        return true;
    }
    int count = 0, first = 0, by_loop = 0, by_jobs = 0;
};

/// Takes memory when it is made, and plays what it has written there.
struct PackMemory : Unit {
    float* samples;
};

void play_memory(PackMemory* unit, int count) {
    std::memcpy(unit->mOutBuf[0], unit->samples, size_t(count) * sizeof(float));
}

void make_memory(PackMemory* unit) {
    constexpr size_t bytes = 1 << 16;
    unit->samples = static_cast<float*>(RTAlloc(unit->mWorld, bytes));
    for (size_t i = 0; i < bytes / sizeof(float); ++i)
        unit->samples[i] = 0.25f;
    unit->mCalcFunc = reinterpret_cast<UnitCalcFunc>(play_memory);
    play_memory(unit, 1);
}

void free_memory(PackMemory* unit) {
    RTFree(unit->mWorld, unit->samples);
}

template <class T>
void define(const char* name) {
    (*ft->fDefinePlugInCmd)(name, run<T>, const_cast<char*>(name));
}

} // namespace

PluginLoad(Pack) {
    ft = inTable;
    define<Answers>("/pack/answers");
    define<Swaps>("/pack/swap");
    define<Computes>("/pack/compute");
    define<Adds>("/pack/add");
    define<Crashes>("/pack/crash");
    define<Prints>("/pack/print");
    define<Spawns>("/pack/spawn");
    define<Returns>("/pack/return");
    define<Keeps>("/pack/keep");
    (*ft->fDefineUnit)("PackMemory", sizeof(PackMemory), reinterpret_cast<UnitCtorFunc>(make_memory),
                       reinterpret_cast<UnitDtorFunc>(free_memory), 0);
}

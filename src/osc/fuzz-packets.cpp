// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target: a row of packets, with blocks rendered in between, through decoder, commands, engine, jobs and
// replies, all threads in one. See FuzzPacket for the input's form.
//
// Making an engine takes longer than most inputs, so one serves many of them and is emptied after each. If an input
// that crashed doesn't crash by itself, an earlier one has left something behind: the inputs that the engine has had
// are in the file that is named at the start, and SCS_FUZZ_REPLAY=<file> runs them again.
#include "engine/base/test-sanitized.hpp"
#include "engine/engine.hpp"
#include "engine/rt/pool.hpp"
#include "engine/world/buffers-abi.hpp"
#include "osc/clients.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/dump.hpp"
#include "osc/command-builder.hpp"
#include "osc/event-pump.hpp"
#include "osc/fuzz-mutate.hpp"
#include "osc/reply-port.hpp"
#include "osc/server.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#ifdef SCS_SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

using namespace scs;
using namespace scs::osc;
namespace fs = std::filesystem;

namespace {

constexpr int block = 64;

[[noreturn]] void fault(const char* what) {
    std::fprintf(stderr, "fuzz-packets: %s\n", what);
    std::abort();
}

/// Tells the leak sanitizer of an engine's table of buffers, whose memory it doesn't search for pointers by itself. The
/// samples that only the table points to would be taken for lost while the engine lives.
class SearchedForPointers {
public:
    explicit SearchedForPointers(Buffers& buffers) : table_(buffers.abi().live) {
#ifdef SCS_SANITIZED
        __lsan_register_root_region(table_.data(), table_.bytes());
#endif
    }
    ~SearchedForPointers() {
#ifdef SCS_SANITIZED
        __lsan_unregister_root_region(table_.data(), table_.bytes());
#endif
    }
    SearchedForPointers(const SearchedForPointers&) = delete;
    SearchedForPointers& operator=(const SearchedForPointers&) = delete;

private:
    ReservedArray<::SndBuf>& table_;
};

/// The folders of a run, removed at its end: `plugins` has the UGens that may play, `files` what file commands may
/// touch. The UGens aren't instrumented: one that writes outside its memory would make the sanitizers report something
/// else. So only UGens that never do are there; all of them run in tests/hostile/ugen-torture.
class Folders {
public:
    Folders() : top_(fs::temp_directory_path() / ("fuzz-packets-" + std::to_string(::getpid()))) {
        fs::create_directories(plugins());
        for (const char* name : {"BinaryOpUGens", "IOUGens", "LFUGens", "MulAddUGens", "OscUGens", "UnaryOpUGens"}) {
            const std::string file = std::string(name) + ".so";
            fs::create_symlink("/usr/lib/SuperCollider/plugins/" + file, fs::path(plugins()) / file);
        }
        fs::create_directories(nothing());
        clean_files();
    }
    ~Folders() {
        std::error_code ignored;
        fs::remove_all(top_, ignored);
    }

    std::string plugins() const { return top_ / "plugins"; }
    std::string nothing() const { return top_ / "nothing"; }
    std::string files() const { return top_ / "files"; }
    std::string history() const { return top_ / "history"; }

    /// After a command has written: as at the start.
    void clean_files() const {
        fs::remove_all(files());
        fs::create_directories(files());
        std::ofstream sound(files() + "/x.wav", std::ios::binary);
        const auto number = [&](uint32_t value, int bytes) {
            for (; bytes > 0; --bytes, value >>= 8)
                sound.put(char(value));
        };
        constexpr uint32_t frames = 100, channels = 2, rate = 48000, bytes = frames * channels * 2;
        sound << "RIFF";
        number(36 + bytes, 4);
        sound << "WAVEfmt ";
        number(16, 4);
        number(1, 2);
        number(channels, 2);
        number(rate, 4);
        number(rate * channels * 2, 4);
        number(channels * 2, 2);
        number(16, 2);
        sound << "data";
        number(bytes, 4);
        for (uint32_t i = 0; i < frames * channels; ++i)
            number(i * 300, 2);
    }

private:
    fs::path top_;
};

const Folders& folders() {
    static const Folders made;
    return made;
}

/// Whether /b_write may be among the packet's commands, by name or number, or among their completion messages.
bool may_write_files(std::span<const std::byte> packet) {
    const std::string_view bytes(reinterpret_cast<const char*>(packet.data()), packet.size());
    return bytes.find("b_write") != bytes.npos || bytes.find({"\0\0\0\x1f", 4}) != bytes.npos;
}

ServerSettings settings(bool first) {
    ServerSettings s;
    s.engine.audio_buses = 32;
    s.engine.control_buses = 128;
    s.engine.buffers = 16;
    s.engine.max_nodes = 64;
    s.engine.max_synthdefs = 16;
    s.engine.rt_memory_kib = 256;
    s.engine.random_seeds = 4;
    s.engine.max_quantum = block;
    s.engine.ugen_path = first ? folders().plugins() : folders().nothing(); // they stay loaded
    s.restricted_path = folders().files();
    return s;
}

/// The OSC thread, the worker and the data loop in one.
class FuzzServer final : public ReplyPort, public EventSink {
public:
    explicit FuzzServer(bool first) : settings_(settings(first)) {
        auto engine = Engine::create(settings_.engine, [](const std::string&) {});
        if (!engine)
            fault(engine.error().c_str());
        engine_ = std::move(engine.value());
        searched_.emplace(engine_->buffers());
        services_.engine = engine_.get();
        empty_pool_ = engine_->world().pool().used_blocks();
    }
    FuzzServer(const FuzzServer&) = delete;
    FuzzServer& operator=(const FuzzServer&) = delete;

    void take(std::span<const std::byte> bytes, const Endpoint& from) {
        may_have_written_ = may_have_written_ || may_write_files(bytes);
        if (dump_mode_ & 2)
            (void)to_hex(bytes);
        auto decoded = decode(bytes);
        if (!decoded)
            return;
        const auto packet = std::make_shared<const Packet>(std::move(decoded.value()));
        if (dump_mode_ & 1)
            (void)to_text(*packet);
        for (const PacketBundle& source : packet->bundles()) {
            if (source.messages.empty())
                continue;
            auto bundle = make_bundle(services_, packet, source, from);
            if (!engine_->submit(bundle.get()))
                return;
            (void)bundle.release();
            ++in_flight_;
        }
    }

    void render() {
        engine_->process(block, now_, 48000, in_, out_);
        now_ = ntp_advance(now_, block, 48000);
        pump();
    }

    /// Whatever came, the server answers, and nothing is under way once the schedule is empty.
    void check() {
        take(encode("/clearSched", {}), test());
        finish();
    }

    /// Makes everything that clients can change as it was at the start. false: the engine must be replaced.
    bool empty() {
        take(encode("/quit", {}), test());
        take(encode("/c_fill", {int32_t(0), int32_t(settings_.engine.control_buses), 0.f}), test());
        take(encode("/error", {int32_t(1)}), test());
        finish();
        const EngineStatus& status = engine_->status();
        if (status.broken)
            return false;
        if (status.synths != 0 || status.groups != 1 || status.synthdefs != 0)
            fault("/quit has left something behind");
        dump_mode_ = 0;
        now_ = start;
        if (std::exchange(may_have_written_, false))
            folders().clean_files();
        return engine_->world().pool().used_blocks() == empty_pool_; // what crashed keeps its memory
    }

private:
    static Endpoint test() { return UdpPeer{1, 99}; }

    void finish() {
        take(encode("/sync", {int32_t(1234)}), test());
        synced_ = false;
        for (int i = 0; i < 2000 && !(synced_ && in_flight_ == 0); ++i)
            render();
        if (!synced_)
            fault("/sync is not answered");
        if (in_flight_ != 0)
            fault("bundles are lost");
    }

    std::span<const std::byte> encode(std::string_view address, std::vector<ReplyArg> args) {
        const auto message = composer_.compose(address, args);
        if (!message)
            fault("no message");
        return message.value();
    }

    void pump() {
        do {
            pump_events(engine_->events(), *this, *this);
            for (; !jobs_.empty(); jobs_.pop_front()) {
                jobs_.front()->work();
                if (!engine_->finish_job(jobs_.front()))
                    fault("no room for a job's result");
            }
            for (; !releases_.empty(); releases_.pop_front())
                delete releases_.front();
        } while (!engine_->events().peek().empty());
    }

    bool send(const Endpoint& to, std::string_view address, std::span<const ReplyArg> args) override {
        const auto message = composer_.compose(address, args);
        if (!message)
            return true;
        if (!decode(message.value()))
            fault("a reply that is no OSC");
        if (to == Endpoint(UdpPeer{1, 99}) && address == "/synced")
            synced_ = true;
        return message.value().size() <= 65507;
    }
    Clients& clients() override { return clients_; }
    void set_dump_mode(int mode) override { dump_mode_ = mode; }
    void quit(const Endpoint&) override { clients_.clear(); } // as with allow-quit false

    void job(Command& command) noexcept override { jobs_.push_back(&command); }
    void reply(Command& command) override { command.answer(*this); }
    void retired(CommandBundle* bundle) noexcept override {
        --in_flight_;
        delete bundle;
    }
    void release(Handback* object) noexcept override { releases_.push_back(object); }
    void print(std::string_view) override {}
    void late(double) override {}
    void piece(std::string_view) override {}
    void command_done(std::string_view name, const Endpoint& from) override { done(from, name); }
    void command_failed(std::string_view text, const Endpoint& from) override { fail(from, "/cmd", text); }
    void packet(std::span<const std::byte>, const ReplyTo&) override {}
    void lost() noexcept override {}

    ServerSettings settings_;
    Services services_{settings_};
    Clients clients_{4};
    ReplyComposer composer_;
    int dump_mode_ = 0;
    std::unique_ptr<Engine> engine_;
    std::optional<SearchedForPointers> searched_;
    std::deque<Command*> jobs_;
    std::deque<Handback*> releases_;
    size_t empty_pool_;
    static constexpr NtpTime start = NtpTime(fuzz_start_seconds) << 32;
    NtpTime now_ = start;
    float samples_[2][block];
    const float* in_[2] = {nullptr, nullptr};
    float* out_[2] = {samples_[0], samples_[1]};
    int in_flight_ = 0;
    bool synced_ = false, may_have_written_ = false;
};

/// The inputs that the present engine has had, each after its size.
class History {
public:
    void forget() { std::ofstream(path(), std::ios::binary | std::ios::trunc); }
    void add(std::span<const uint8_t> input) {
        std::ofstream file(path(), std::ios::binary | std::ios::app);
        const uint64_t size = input.size();
        file.write(reinterpret_cast<const char*>(&size), sizeof size);
        file.write(reinterpret_cast<const char*>(input.data()), std::streamsize(size));
    }
    static std::string path() { return folders().history(); }
};

} // namespace

/// Large buffers are refused as on a machine without memory, and no input takes long.
extern "C" const char* __asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=24:quarantine_size_mb=16:detect_leaks=1";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr int inputs_an_engine = 200;
    static int served = 0;
    static bool first = true;
    static std::unique_ptr<FuzzServer> server;
    static History history;
    if (!server) {
        server = std::make_unique<FuzzServer>(std::exchange(first, false));
        history.forget();
        served = 0;
    }
    history.add({data, size});
    uint16_t count = 0;
    for (const FuzzPacket& packet : split_packets({data, size})) {
        server->take(std::as_bytes(packet.bytes), UdpPeer{1, uint16_t(count++ % 6)});
        for (int i = 0; i < packet.blocks; ++i)
            server->render();
    }
    server->check();
    if (!server->empty() || ++served == inputs_an_engine)
        server.reset();
    return 0;
}

/// With SCS_FUZZ_REPLAY nothing is fuzzed: the inputs of that file are run.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const char* replayed = std::getenv("SCS_FUZZ_REPLAY");
    if (!replayed) {
        std::fprintf(stderr, "fuzz-packets: the inputs of the engine are in %s\n", History::path().c_str());
        return 0;
    }
    std::ifstream file(replayed, std::ios::binary);
    std::vector<uint8_t> input;
    for (uint64_t size; file.read(reinterpret_cast<char*>(&size), sizeof size);) {
        input.resize(size);
        if (!file.read(reinterpret_cast<char*>(input.data()), std::streamsize(size)))
            break;
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::exit(0);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/engine.hpp"
#include "osc/clients.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/dump.hpp"
#include "osc/command-builder.hpp"
#include "osc/event-pump.hpp"
#include "osc/reply-port.hpp"
#include "osc/reply-to.hpp"
#include "osc/server.hpp"
#include "osc/test-definition.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace scs::osc::test {

/// An engine that carries out messages one by one, all its threads in one: replies come back as text.
class CommandBench : public ReplyPort, public EventSink {
public:
    explicit CommandBench(const std::string& restricted_path = {}, const std::function<void(Settings&)>& change = {}) {
        settings_.engine.buffers = 8;
        settings_.engine.control_buses = 16384;
        settings_.engine.rt_memory_kib = 32 * 1024;
        settings_.engine.max_nodes = 65536;
        settings_.restricted_path = restricted_path;
        if (change)
            change(settings_.engine);
        auto engine = Engine::create(settings_.engine, [](const std::string&) {});
        REQUIRE(engine);
        engine_ = std::move(engine.value());
        services_.engine = engine_.get();
    }
    ~CommandBench() override { settle(); }

    static std::vector<std::byte> message(std::string_view address, const std::vector<ReplyArg>& args) {
        ReplyComposer composer;
        const auto bytes = composer.compose(address, args);
        REQUIRE(bytes);
        return {bytes.value().begin(), bytes.value().end()};
    }

    /// The replies, each as /dumpOSC prints it, in one string.
    std::string run(const std::vector<std::byte>& bytes) {
        replies_.clear();
        auto packet = decode(bytes);
        REQUIRE(packet);
        submit(std::make_shared<const Packet>(std::move(packet.value())), {});
        settle();
        return replies_;
    }
    /// Leaves a message for the next cycle.
    void leave(const std::vector<std::byte>& bytes) {
        auto packet = decode(bytes);
        REQUIRE(packet);
        submit(std::make_shared<const Packet>(std::move(packet.value())), {});
    }
    /// The lines printed by run() since the last time.
    std::string printed() { return std::exchange(printed_, {}); }
    /// A block of silence in and nothing out, in second 7.
    void process(std::span<const ControlEvent> events = {}, const CycleLimit& limit = {},
                 std::span<const Transport> transports = {}) {
        const float* in[] = {nullptr, nullptr};
        float* out[] = {nullptr, nullptr};
        engine_->process(engine_->settings().block_size, NtpTime(7) << 32, 48000, in, out, limit, events, transports);
    }
    /// The same without events; the lines that it prints.
    std::string render() {
        printed_.clear();
        process();
        settle();
        return std::exchange(printed_, {});
    }
    template <class... Args>
    std::string operator()(std::string_view address, Args... args) {
        return run(message(address, {ReplyArg(args)...}));
    }

    Engine& engine() { return *engine_; }
    Services& services() { return services_; }
    /// Those of the server, which commands read at each call. The engine's are fixed.
    ServerSettings& settings() { return settings_; }

    bool send(const Endpoint&, std::string_view address, std::span<const ReplyArg> args) override {
        add_reply(message(address, {args.begin(), args.end()}));
        return true;
    }
    Clients& clients() override { return clients_; }
    void set_dump_mode(int) override {}
    void quit(const Endpoint& from) override { done(from, "/quit"); }

    void job(Command& command) noexcept override {
        if (const CompletionRequest request = command.take_completion_request(); !request.packet.empty()) {
            auto bundle = make_completion(services_, request.packet, to_endpoint(request.from.client));
            REQUIRE(bundle);
            REQUIRE(engine_->reserve());
            command.completion = bundle.value().release();
        }
        jobs_.push_back(&command);
    }
    void reply(Command& command) override { command.answer(*this); }
    void lost() noexcept override {}
    void retired(CommandBundle* bundle) noexcept override { delete bundle; }
    void release(Handback* object) noexcept override { delete object; }
    void print(std::string_view line) override { printed_ += std::string(line) + "\n"; }
    void late(double) override {}
    void piece(std::string_view text) override { printed_ += text; }
    void command_done(std::string_view name, const Endpoint& from) override { done(from, name); }
    void command_failed(std::string_view text, const Endpoint& from) override { fail(from, "/cmd", text); }
    void packet(std::span<const std::byte> bytes, const ReplyTo&) override { add_reply(bytes); }

private:
    void submit(const std::shared_ptr<const Packet>& packet, const Endpoint& from) {
        for (const PacketBundle& bundle : packet->bundles())
            REQUIRE(engine_->submit(make_bundle(services_, packet, bundle, from).release()));
    }

    void add_reply(std::span<const std::byte> bytes) {
        const auto packet = decode(bytes);
        REQUIRE(packet);
        replies_ += to_text(packet.value());
    }

    void settle() {
        for (int quiet = 0; quiet < 3; ++quiet) {
            const bool more = engine_->run_idle();
            // In any case: what waits for room in a full ring gets it here only.
            if (pump_events(engine_->events(), *this, *this) > 0 || more)
                quiet = -1;
            for (; !jobs_.empty(); jobs_.pop_front(), quiet = -1) {
                jobs_.front()->work();
                REQUIRE(engine_->finish_job(jobs_.front()));
            }
        }
    }

    ServerSettings settings_;
    Services services_{settings_};
    Clients clients_{4};
    std::unique_ptr<Engine> engine_;
    std::deque<Command*> jobs_;
    std::string replies_, printed_;
};

} // namespace scs::osc::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/offline.hpp"

#include "engine/base/printable.hpp"
#include "engine/engine.hpp"
#include "engine/messages/handback-list.hpp"
#include "osc/clients.hpp"
#include "osc/command-builder.hpp"
#include "osc/event-pump.hpp"
#include "osc/line-pieces.hpp"
#include "osc/reply-port.hpp"
#include "osc/score-reader.hpp"
#include "osc/start-definitions.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scs::osc {

namespace {

constexpr double units_per_second = 4294967296.0;
constexpr int most_frames = 4096; // of a cycle

std::string seconds_text(NtpTime time) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6f s", double(time) / units_per_second);
    return text;
}

/// Drops the replies, but logs failures.
class NoPort final : public ReplyPort, public EventSink {
public:
    explicit NoPort(const ServerSettings& settings) : settings_(settings) {}

    bool send(const Endpoint&, std::string_view address, std::span<const ReplyArg> args) override {
        if (const auto failure = failure_line(address, args))
            log(*failure);
        return true;
    }
    bool send_record(const Endpoint&, std::span<const std::byte>) override { return true; }
    Clients& clients() override { return nobody_; }
    void set_dump_mode(int) override {}
    void quit(const Endpoint&) override {}

    /// Jobs are done in place, but for what follows a completion of a plugin's command.
    void job(Command& command) noexcept override { jobs.push_back(&command); }
    void reply(Command& command) override { command.answer(*this); }
    void retired(CommandBundle* bundle) noexcept override { delete bundle; }
    void release(Handback* object) noexcept override { delete object; }
    void print(std::string_view line) override { log(std::string(line)); }
    void late(double) override {}
    void completion(std::span<const std::byte> packet, const Endpoint&) override {
        if (auto decoded = decode(packet))
            completions.push_back(std::make_shared<const Packet>(std::move(decoded.value())));
        else
            log("a plugin's completion message is malformed: " + decoded.error());
    }
    void piece(std::string_view text) override {
        pieces_.add(0, text, LinePieces::Time(), [this](std::string_view line) { print(line); });
    }
    void command_done(std::string_view, const Endpoint&) override {}
    void command_failed(std::string_view text, const Endpoint& from) override { fail(from, "/cmd", text); }
    void packet(std::span<const std::byte>, const ReplyTo&) override {}
    void lost() noexcept override {}
    /// Prints the line that nothing follows any more.
    void end_line() {
        pieces_.emit_old(LinePieces::Time::max(), [this](std::string_view line) { print(line); });
    }
    std::vector<std::shared_ptr<const Packet>> completions; ///< to be submitted
    HandbackList jobs;                                      ///< to be done after these

private:
    void log(const std::string& text) {
        if (settings_.log)
            settings_.log(ServerSettings::Level::info, printable(text));
    }

    const ServerSettings& settings_;
    Clients nobody_{1};
    LinePieces pieces_;
};

class Renderer {
public:
    Renderer(Engine& engine, Services& services, const BlockSink& sink, const BlockSource& source)
        : engine_(engine),
          services_(services),
          port_(services.settings),
          sink_(sink),
          source_(source),
          block_(engine.settings().block_size),
          rate_(engine.settings().sample_rate),
          step_(NtpTime(double(block_) / (rate_ / units_per_second))),
          most_(engine.settings().max_quantum),
          samples_(size_t(engine.settings().outputs) * size_t(most_)),
          in_samples_(size_t(engine.settings().inputs) * size_t(most_)) {
        for (int i = 0; i < engine.settings().outputs; ++i)
            out_.push_back(samples_.data() + i * most_);
        out_.push_back(nullptr); // never empty
        for (int i = 0; i < engine.settings().inputs; ++i)
            in_.push_back(in_samples_.data() + i * most_);
        in_.push_back(nullptr);
    }

    /// In scsynth a bundle belongs to a block if it is due until the time at which the next one begins.
    NtpTime block_end() const { return now_ + step_; }

    /// Hands a packet over, to run in the block to come.
    bool submit(const std::shared_ptr<const Packet>& packet) {
        alone_ = alone_ || packet->bundles().size() > 1;
        for (const PacketBundle& source : packet->bundles()) {
            auto bundle = make_bundle(services_, packet, source, Endpoint());
            if (!submit(*bundle))
                return false;
            (void)bundle.release();
        }
        return true;
    }
    bool submit(CommandBundle& bundle) {
        alone_ = alone_ || bundle.calls_plugin();
        if (engine_.submit(&bundle))
            return true;
        engine_.run_idle(); // makes room, but for what is scheduled
        pump_events(engine_.events(), port_, port_);
        return engine_.submit(&bundle);
    }

    /// How many blocks make the next cycle, at least 1: those until `next` runs.
    int cycle_blocks(const Packet* next) const {
        if (alone_ || !next || engine_.status().scheduled)
            return 1;
        int count = 1;
        while ((count + 1) * block_ <= most_ && next->bundles()[0].time > block_end() + NtpTime(count) * step_)
            ++count;
        return count;
    }

    /// False if the sink wants no more.
    bool render(int blocks) {
        const int frames = blocks * block_;
        if (source_)
            source_(in_.data(), frames);
        engine_.process(frames, now_, rate_, in_.data(), out_.data());
        if (!complete_commands())
            return false;
        alone_ = false;
        now_ += NtpTime(blocks) * step_;
        frames_ += uint64_t(frames);
        return sink_(out_.data(), frames);
    }
    uint64_t frames() const { return frames_; }
    void end() { port_.end_line(); }

private:
    /// Runs the completions of plugins' commands, then these commands' fourth stages. false: there is no room for one.
    bool complete_commands() {
        pump_events(engine_.events(), port_, port_);
        while (!port_.completions.empty() || !port_.jobs.empty()) {
            for (const auto& packet : std::exchange(port_.completions, {}))
                if (!submit(packet))
                    return false;
            run_all();
            while (auto* const job = static_cast<Command*>(port_.jobs.pop_front())) {
                job->work();
                if (!engine_.finish_job(job))
                    return false;
            }
            run_all();
            pump_events(engine_.events(), port_, port_);
        }
        return true;
    }
    /// Runs what was submitted, however long that takes.
    void run_all() {
        while (engine_.run_idle())
            pump_events(engine_.events(), port_, port_);
    }

    Engine& engine_;
    Services& services_;
    NoPort port_;
    const BlockSink& sink_;
    const BlockSource& source_;
    int block_;
    double rate_;
    NtpTime step_, now_ = 0;
    int most_; ///< frames of a cycle
    /// The next block is a cycle of its own: a plugin's command in it may ask for messages to be performed after it, or
    /// there are bundles in a bundle, whose time may come in any block.
    bool alone_ = false;
    uint64_t frames_ = 0;
    std::vector<float> samples_, in_samples_;
    std::vector<float*> in_, out_;
};

/// Lets the packets of one block run. Sets `next` to the first packet after it, none at the end of the score.
std::optional<Error> run_block(ScoreReader& score, Renderer& renderer, std::shared_ptr<const Packet>& next) {
    while (next && next->bundles()[0].time <= renderer.block_end()) {
        if (!renderer.submit(next))
            return score.error("too many bundles at one time");
        if (score.at_end()) {
            next = nullptr;
            break;
        }
        const NtpTime time = next->bundles()[0].time;
        auto packet = score.next();
        if (!packet)
            return Error{packet.error()};
        next = std::move(packet.value());
        if (next->bundles()[0].time < time)
            return score.error("its time, " + seconds_text(next->bundles()[0].time) + ", is before the " +
                               seconds_text(time) + " of the one before it");
    }
    return {};
}

/// Renders all of it, `next` being its first packet, or until the sink wants no more.
std::optional<Error> render_all(ScoreReader& score, Renderer& renderer, Engine& engine,
                                std::shared_ptr<const Packet> next) {
    for (bool more = true; next && more;) {
        if (auto error = run_block(score, renderer, next))
            return error;
        more = renderer.render(renderer.cycle_blocks(next.get()));
        if (engine.status().broken)
            return Error{"the engine crashed at frame " + std::to_string(renderer.frames())};
    }
    return {};
}

} // namespace

double score_seconds(std::span<const std::byte> score) noexcept {
    constexpr size_t name_bytes = 8, time_bytes = 8;
    NtpTime last = 0;
    while (score.size() >= ScoreReader::size_bytes + name_bytes + time_bytes) {
        NtpTime time = 0;
        for (const std::byte byte : score.subspan(ScoreReader::size_bytes + name_bytes, time_bytes))
            time = time << 8 | std::to_integer<NtpTime>(byte);
        last = time;
        score = score.subspan(std::min(score.size(), ScoreReader::size_bytes + ScoreReader::packet_size(score)));
    }
    return double(last) / units_per_second;
}

Result<uint64_t> render_score(std::span<const std::byte> bytes, const ServerSettings& settings, const BlockSink& sink,
                              const BlockSource& source) {
    ServerSettings offline = settings;
    offline.engine.real_time = false;
    offline.engine.max_quantum = std::max(most_frames / offline.engine.block_size, 1) * offline.engine.block_size;
    const auto report = [&](const std::string& text) {
        if (offline.log)
            offline.log(ServerSettings::Level::warning, text);
    };
    ScoreReader score(bytes);
    if (score.at_end())
        return Error{"the score is empty"};
    auto first = score.next();
    if (!first)
        return Error{first.error() + "; is it a score in binary, as Score.writeOSCFile in sclang writes it?"};
    Services services(offline); // what remains with the engine uses it till the end
    auto engine = Engine::create(offline.engine, report);
    if (!engine)
        return Error{engine.error()};

    services.engine = engine.value().get();

    Renderer renderer(*engine.value(), services, sink, source);
    if (auto definitions = load_start_definitions(services, engine.value()->settings(), report, [] { return false; }))
        if (renderer.submit(*definitions))
            (void)definitions.release();
    auto error = render_all(score, renderer, *engine.value(), std::move(first.value()));
    renderer.end();
    if (error)
        return std::move(*error);
    return renderer.frames();
}

} // namespace scs::osc

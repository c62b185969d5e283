// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake-server.hpp"

#include <cerrno>
#include <cmath>

namespace {

scs::test::FakeServer fake;

} // namespace

extern "C" __attribute__((visibility("default"))) scs::test::FakeServer* fake_server() {
    return &fake;
}

namespace scs {

/// Output i is a sine of (i + 1) × 100 Hz plus input i.
void Engine::process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                     const CycleLimit& limit, std::span<const ControlEvent> events,
                     std::span<const Transport> transports) noexcept {
    fake.events.assign(events.begin(), events.end());
    fake.transport.frame -= fake.frames; // it goes on as it did
    if (!transports.empty()) {
        fake.transports.assign(transports.begin(), transports.end());
        fake.transport = transports.front();
    }
    fake.deadline = limit.deadline;
    fake.renders = limit.renders;
    fake.frames = frames;
    fake.rate = rate;
    fake.frame0 = frame0;
    uint64_t inputs = 0;
    for (int i = 0; i < settings_.inputs && i < 64; ++i)
        inputs |= uint64_t(in[i] != nullptr) << i;
    fake.inputs_seen = inputs;
    for (int i = 0; i < settings_.outputs; ++i) {
        if (!out[i])
            continue;
        const bool has_input = i < settings_.inputs && in[i];
        for (int k = 0; k < frames; ++k)
            out[i][k] =
                float(std::sin(2 * M_PI * 100 * (i + 1) * double(played_ + k) / rate)) + (has_input ? in[i][k] : 0.f);
    }
    played_ += frames;
    status_.cycles.fetch_add(1);
    if (void (*fault)() = fake.in_process)
        fault();
}

bool Engine::run_idle(double rate) noexcept {
    fake.idle_rate = rate;
    ++fake.idle_calls;
    return fake.idle_work.load() > 0 && fake.idle_work.fetch_sub(1) > 1;
}

int Engine::input_delay() const noexcept {
    return fake.input_delay;
}

void Engine::reset_carry() noexcept {
    ++fake.resets;
}

namespace osc {

struct Server::Private {
    explicit Private(const ServerSettings& s) : settings(s), engine(s.engine) {}
    ServerSettings settings;
    Engine engine;
    bool ready = fake.ready;
    PacketCounters counters;
};

Server::Server(std::shared_ptr<Private> p) : p_(std::move(p)) {}

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings) {
    if (fake.port_is_taken) {
        errno = EADDRINUSE;
        return Error{"UDP port " + std::to_string(settings.port) + " is taken"};
    }
    if (const char* failure = fake.failure)
        return Error{failure};
    if (settings.port == 0)
        settings.port = 40001;
    std::unique_ptr<Server> server(new Server(std::make_shared<Private>(settings)));
    fake.settings = settings;
    fake.counters = &server->p_->counters;
    ++fake.servers;
    settings.state(fake.ready ? "running" : "starting");
    return server;
}

Server::~Server() {
    --fake.servers;
}

Engine* Server::engine() noexcept {
    p_->engine.status().synths = fake.synths.load();
    return p_->ready ? &p_->engine : nullptr;
}

uint16_t Server::port() const noexcept {
    return p_->settings.port;
}

void Server::rest() noexcept {
    fake.resting = true;
}

void Server::warn(const std::string& text) noexcept {
    fake.warnings.push_back(text);
}

Driver& Server::driver() noexcept {
    return fake.driver;
}

const PacketCounters& Server::counters() const noexcept {
    return p_->counters;
}

} // namespace osc
} // namespace scs

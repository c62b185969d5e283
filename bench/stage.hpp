// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/reader.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What the benchmarks of the engine alone share.
namespace scs::bench {

constexpr double rate = 48000; // Hz
constexpr int frames = 64;     // of a cycle, which is one block
constexpr int64_t second = 1'000'000'000;

/// ns.
inline int64_t now(clockid_t clock = CLOCK_MONOTONIC) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * second + t.tv_nsec;
}

/// That many steps that wait for each other, of about a nanosecond. The result has to be used.
inline uint64_t steps(uint64_t from, int64_t count) {
    for (; count > 0; --count)
        from = from * 6364136223846793005u + 1442695040888963407u;
    return from;
}

inline Settings roomy(int threads, const HelpPolicy* help = nullptr) {
    Settings settings;
    settings.help = help;
    settings.inputs = 0;
    settings.threads = threads;
    settings.max_nodes = 1 << 16;
    settings.rt_memory_kib = 1 << 18;
    settings.wire_buffers = 512;
    settings.cpu_limit = 0;
    return settings;
}

/// An engine in real time, driven by hand in cycles of one block.
class Stage : public test::Fixture {
public:
    explicit Stage(const Settings& settings) : Fixture(settings), out_(size_t(settings.outputs)) {
        for (auto& port : out_) {
            port.resize(frames);
            ports_.push_back(port.data());
        }
    }

    /// The first SynthDef of a file.
    Definition* load(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        auto defs = read_synthdefs({bytes, text.size()});
        if (!file || !defs || defs.value().empty())
            throw std::runtime_error("no SynthDef in " + path);
        return define(defs.value().front());
    }
    Group& group(int32_t id) {
        Group* made = nullptr;
        if (engine->tree().new_group(id, AddAction::tail, 0, made).failed())
            throw std::runtime_error("no new group");
        return *made;
    }
    Synth& synth(Definition& definition, int32_t id, AddAction action, int32_t target) {
        Synth* made = nullptr;
        if (engine->tree().new_synth(definition, nullptr, id, action, target, made).failed())
            throw std::runtime_error("no new synth");
        return *made;
    }
    void set(Synth& synth, const char* name, float value) { test::set_named(engine->tree(), synth, name, 0, value); }

    /// A cycle, with what control inputs bring; how long it takes, ns.
    int64_t cycle(std::span<const ControlEvent> events = {}) {
        const NtpTime at = ntp_advance(start, position, rate);
        const int64_t began = now();
        engine->process(frames, at, rate, nullptr, ports_.data(), {}, events);
        const int64_t passed = now() - began;
        position += frames;
        if (++cycles_ % 256 == 0)
            pump();
        return passed;
    }
    void cycles(int count) {
        for (int i = 0; i < count; ++i)
            (void)cycle();
    }
    /// Of the last block: whether anything is heard.
    bool sounds() const {
        return std::any_of(out_[0].begin(), out_[0].end(), [](float sample) { return sample != 0; });
    }

private:
    std::vector<std::vector<float>> out_;
    std::vector<float*> ports_;
    uint64_t cycles_ = 0;
};

} // namespace scs::bench

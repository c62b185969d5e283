// SPDX-License-Identifier: GPL-3.0-or-later
// Units write all of their outputs in each block, if other threads may compute them: usage test-wires FOLDER... Each
// *.scsyndef below a folder is played by itself, with two different things on the audio wires before each block, and
// must sound the same. SCS_CORPUS in the environment may name one more folder.
#include "engine/compile/graph-facts.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/synthdef/reader.hpp"
#include "engine/world/buffers.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

using namespace scs;
using namespace scs::test;

namespace {

constexpr int blocks = 100, buffers = 32, buffer_frames = 4096;

std::vector<SynthDef> load(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    auto read = read_synthdefs(std::as_bytes(std::span(chars)));
    return read ? std::move(read.value()) : std::vector<SynthDef>();
}

struct Listener : Fixture {
    explicit Listener(const Settings& settings) : Fixture(settings), samples(buffer_frames) {
        for (int i = 0; i < buffer_frames; ++i)
            samples[size_t(i)] = float(i % 100) / 100.f - 0.5f;
        for (int number = 0; number < buffers; ++number)
            engine->buffers().install(number, {.data = samples.data(), .frames = buffer_frames, .channels = 1});
    }
    ~Listener() {
        for (int number = 0; number < buffers; ++number)
            engine->buffers().install(number, {});
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// What is heard of it; nothing if it isn't to be computed by other threads.
    std::vector<float> play(const SynthDef& def, float left_over) {
        // With inputs held that units read on beyond, as by default: what lies there isn't on the wires.
        Definition& definition = *define(def, true);
        if (!definition.graph_facts || !definition.graph_facts->pipelines)
            return {};
        *engine->world().random() = {1234, 5678, 9012};
        Synth* made;
        if (!engine->tree().new_synth(definition, nullptr, 1000, AddAction::tail, 0, made).ok()) {
            failed = true;
            return {};
        }
        std::vector<float> heard;
        const Settings& settings = engine->settings();
        for (int block = 0; block < blocks; ++block) {
            if (block > 0) // other threads compute none that is new
                std::fill_n(engine->world().wire_space(), settings.wire_buffers * settings.block_size, left_over);
            const std::vector<float> some = render(settings.block_size);
            heard.insert(heard.end(), some.begin(), some.end());
        }
        while (!engine->tree().freeing().free_all_in_time(engine->tree().root())) {
        }
        render(settings.block_size);
        return heard;
    }
    /// Synths that crash keep their memory, until there is none for others.
    bool worn_out() const { return failed || engine->status().broken; }
    std::vector<float> samples;
    bool failed = false;
};

/// `native`: with native units, where there are any.
Settings settings_for_all(bool native) {
    Settings settings;
    settings.native_ugens = native;
    settings.wire_buffers = 128;
    settings.rt_memory_kib = 16384;
    return settings;
}

/// Whether it is to be computed by other threads, and what it sounds like depends on what was on its wires.
enum class Found { not_played, independent, depends };
Found try_out(const SynthDef& def, bool native, std::optional<Listener>& listener) {
    const auto same = [](const std::vector<float>& one, const std::vector<float>& other) {
        return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
    };
    if (!listener || listener->worn_out())
        listener.emplace(settings_for_all(native));
    std::vector<float> first = listener->play(def, 0.37f);
    if (listener->worn_out())
        first = listener.emplace(settings_for_all(native)).play(def, 0.37f);
    if (first.empty())
        return Found::not_played;
    if (same(first, listener->play(def, -0.21f)))
        return Found::independent;
    // What was played before may have left something, and some units are different now and then in any case, as
    // they read memory that they don't set.
    const auto play = [&](float left_over) { return Listener(settings_for_all(native)).play(def, left_over); };
    const std::vector<float> heard = play(0.37f);
    const auto depends = [&] { return same(heard, play(0.37f)) && !same(heard, play(-0.21f)); };
    return depends() && depends() && depends() ? Found::depends : Found::independent;
}

} // namespace

int main(int argc, char** argv) {
    FaultGuard::install();
    std::vector<std::filesystem::path> folders(argv + 1, argv + argc);
    if (const char* more = std::getenv("SCS_CORPUS"))
        folders.emplace_back(more);
    std::array<std::optional<Listener>, 2> listeners;
    int played = 0, wrong = 0;
    for (const auto& folder : folders)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().extension() != ".scsyndef")
                continue;
            for (auto& each : listeners)
                each.reset();
            for (const SynthDef& def : load(entry.path()))
                for (const bool native : {true, false})
                    try {
                        const Found found = try_out(def, native, listeners[native]);
                        played += found != Found::not_played;
                        if (found != Found::depends)
                            continue;
                        ++wrong;
                        std::cout << entry.path().string() << ": " << def.name
                                  << (native ? "" : " without native units") << " depends on what was on its wires"
                                  << std::endl;
                    } catch (const std::runtime_error&) { // not to be compiled
                    }
        }
    std::cout << played << " SynthDefs played, " << wrong << " depend on what was on their wires\n";
    return played > 0 && wrong == 0 ? 0 : 1;
}

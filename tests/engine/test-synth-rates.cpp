// SPDX-License-Identifier: GPL-3.0-or-later
// Synths with blocks or a rate of their own: as native voices, alone and in batches, they have the bits of unit graphs.
#include "test-support.hpp"

#include "engine/plugins/plugin-world.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

using namespace scs;
using namespace scs::test;

namespace {

enum ControlIndex : uint32_t { freq, amp, out, heard, block, factor, control_count };
constexpr float other_bus = 16, control_bus = 3;
constexpr int16_t plus = 0, times = 2; ///< operators

Settings native(int block_size, bool batching = true) {
    Settings settings;
    settings.native_ugens = true;
    settings.batching = batching;
    settings.simd = "sse2"; // four lanes on every x86-64
    settings.block_size = block_size;
    return settings;
}

/// A SynthDef in the making.
struct Maker {
    explicit Maker(const char* name) {
        def.name = name;
        def.controls = {300.f, 0.1f, 0.f, other_bus, 0.f, 0.f};
        def.control_names = {{"freq", freq},   {"amp", amp},     {"out", out},
                             {"heard", heard}, {"block", block}, {"factor", factor}};
        def.units = {unit("Control", Rate::control, {}, std::vector<Rate>(control_count, Rate::control))};
    }

    static InputRef control(ControlIndex index) { return {0, index}; }
    InputRef number(float value) {
        def.constants.push_back(value);
        return {-1, uint32_t(def.constants.size() - 1)};
    }
    InputRef add(const char* name, Rate rate, std::vector<InputRef> inputs, size_t outputs = 1, int16_t special = 0) {
        def.units.push_back(unit(name, rate, std::move(inputs), std::vector<Rate>(outputs, rate), special));
        return {int32_t(def.units.size() - 1), 0};
    }
    InputRef ar(const char* name, std::vector<InputRef> inputs, size_t outputs = 1, int16_t special = 0) {
        return add(name, Rate::audio, std::move(inputs), outputs, special);
    }
    InputRef kr(const char* name, std::vector<InputRef> inputs, size_t outputs = 1, int16_t special = 0) {
        return add(name, Rate::control, std::move(inputs), outputs, special);
    }
    InputRef product(InputRef a, InputRef b) { return ar("BinaryOpUGen", {a, b}, 1, times); }
    InputRef sum(InputRef a, InputRef b) { return ar("BinaryOpUGen", {a, b}, 1, plus); }

    SynthDef def;
};

/// What such a synth sounds like, with units whose native form unit graphs have, too.
SynthDef made_at_random(unsigned seed) {
    std::mt19937 random(seed);
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    Maker m("made");
    InputRef pitch = Maker::control(freq);
    if (one_in(2))
        pitch = m.kr("BinaryOpUGen", {pitch, m.kr("SinOsc", {m.number(7.f), m.number(0.f)})}, 1, plus);
    if (one_in(3))
        pitch = m.kr("Lag", {pitch, m.number(0.01f)});
    InputRef sound{};
    switch (random() % 5) {
    case 0: sound = m.ar("SinOsc", {pitch, m.number(0.f)}); break;
    case 1: sound = m.ar("VarSaw", {pitch, m.number(0.f), m.number(0.3f)}); break;
    case 2: sound = m.ar("Saw", {pitch}); break;
    case 3: sound = m.ar("Impulse", {pitch, m.number(0.f)}); break;
    default: sound = m.ar("LFSaw", {pitch, m.number(0.f)}); break;
    }
    if (one_in(8))
        sound = m.sum(sound, m.product(m.ar("WhiteNoise", {}), m.number(0.1f)));
    if (one_in(3))
        sound = m.sum(sound, m.ar(one_in(2) ? "In" : "InFeedback", {Maker::control(heard)}, 2));
    if (one_in(4))
        sound = m.sum(sound, m.ar("K2A", {m.kr("In", {m.number(control_bus)})}));
    if (one_in(5))
        sound = m.sum(sound, m.ar("K2A", {m.kr("LagIn", {m.number(control_bus), m.number(0.02f)})}));
    const bool feeds_back = one_in(3);
    if (feeds_back)
        sound = m.sum(sound, m.product(m.ar("LocalIn", {m.number(0.f)}), m.number(0.5f)));
    if (one_in(2))
        sound = m.ar("RLPF", {sound, m.number(3000.f), m.number(0.5f)});
    if (one_in(4))
        sound = m.ar("CombC", {sound, m.number(0.02f), m.number(0.0113f), m.number(0.2f)});
    if (one_in(3))
        sound = m.ar("OnePole", {sound, m.number(0.4f)});
    if (feeds_back)
        m.ar("LocalOut", {sound}, 0);
    if (one_in(2)) // it ends by itself: freed
        sound = m.product(sound, m.kr("Line", {m.number(1.f), m.number(0.2f), m.number(0.03f), m.number(2.f)}));
    sound = m.product(sound, Maker::control(amp));
    if (one_in(4))
        m.kr("Out", {m.number(control_bus + 1), m.kr("SinOsc", {pitch, m.number(0.f)})}, 0);
    const InputRef bus = Maker::control(out);
    switch (random() % 6) {
    case 0: m.ar("OffsetOut", {bus, sound}, 0); break;
    case 1: m.ar("XOut", {bus, m.kr("SinOsc", {m.number(3.f), m.number(0.f)}), sound, sound}, 0); break;
    case 2: m.ar("ReplaceOut", {bus, sound}, 0); break;
    case 3: {
        const InputRef left = m.ar("Pan2", {sound, m.number(0.3f), m.number(1.f)}, 2);
        m.ar("Out", {bus, left, {left.unit, 1}}, 0);
        break;
    }
    default: m.ar("Out", {bus, sound}, 0); break;
    }
    return m.def;
}

enum class Said { by_constants, by_controls };

SynthDef with_rate(SynthDef def, const SynthRate& rate, Said said) {
    def.own_rate = {rate.frames, -1, float(rate.factor), -1};
    if (said == Said::by_controls) {
        def.own_rate = {-1, block, -1.f, factor};
        def.controls[block] = float(rate.frames);
        def.controls[factor] = float(rate.factor);
    }
    return def;
}

/// Writes the buses that others read.
SynthDef player_def() {
    Maker m("player");
    m.ar("Out", {m.number(other_bus), m.ar("SinOsc", {m.number(500.f), m.number(0.f)})}, 0);
    m.kr("Out", {m.number(control_bus), m.kr("SinOsc", {m.number(40.f), m.number(0.f)})}, 0);
    return m.def;
}

/// Has all buses be heard on output 0.
SynthDef listener_def() {
    Maker m("listener");
    const InputRef buses = m.ar("In", {m.number(0.f)}, 2);
    const InputRef signal = m.ar("K2A", {m.kr("In", {m.number(control_bus + 1)})});
    m.ar("ReplaceOut", {m.number(0.f), m.sum(m.sum(buses, m.product({buses.unit, 1}, m.number(0.7f))), signal)}, 0);
    return m.def;
}

constexpr int voices = 7;

struct Played {
    std::vector<float> sound;
    int most_batched = 0; ///< voices in batches at once
};

/// Some synths, of which some come later, are paused and set, or end.
Played played(const SynthDef& def, const Settings& settings) {
    Fixture f(settings);
    *f.engine->world().random() = {1234, 5678, 9012};
    Definition* const its = f.define(def);
    CHECK((its->code != nullptr) == (def.own_rate.block_size >= 0));
    f.play(*f.define(player_def()), 1);
    Synth& listener = f.play(*f.define(listener_def()), 2);
    Tree& tree = f.engine->tree();
    const auto start = [&](int32_t id) {
        Synth* made = nullptr;
        REQUIRE(tree.new_synth(*its, nullptr, id, AddAction::before, listener.id, made).ok());
        tree.controls().set(*made, freq, 100.f + 37.f * float(id));
    };
    Played all;
    const auto go_on = [&](int blocks) {
        for (int i = 0; i < blocks; ++i) {
            const std::vector<float> more = f.render(settings.block_size);
            all.sound.insert(all.sound.end(), more.begin(), more.end());
            int batched = 0;
            for (const Node* n = tree.root().head; n; n = n->next)
                if (const Voice* voice = static_cast<const Synth*>(n)->voice)
                    batched += n->id >= 10 && voice->batch != nullptr;
            all.most_batched = std::max(all.most_batched, batched);
        }
    };
    const auto each = [&](int32_t id, auto&& act) {
        if (Synth* synth = tree.find_synth(id))
            act(*synth);
    };
    for (int i = 0; i < voices; ++i)
        start(10 + i);
    go_on(6);
    start(20);
    start(21);
    each(12, [&](Synth& synth) { tree.controls().set(synth, freq, 777.f); });
    each(13, [&](Synth& synth) { tree.runs().set_run(synth, false); });
    go_on(4);
    each(11, [&](Synth& synth) { tree.free(synth); });
    each(13, [&](Synth& synth) { tree.runs().set_run(synth, true); });
    go_on(30);
    each(14, [&](Synth& synth) { tree.free(synth); });
    go_on(4);
    return all;
}

std::string rate_text(const SynthRate& rate, int server) {
    return std::to_string(rate.frames) + " frames, " + std::to_string(rate.factor) + " times, the server's " +
           std::to_string(server);
}

bool draws(const SynthDef& def) {
    return std::any_of(def.units.begin(), def.units.end(), [](const UnitSpec& u) { return u.name == "WhiteNoise"; });
}

} // namespace

TEST_CASE("voices with blocks and rates of their own have the bits of unit graphs") {
    for (const auto& blocks : {std::pair(64, 64), std::pair(128, 64), std::pair(128, 128)})
        for (int times_as_fast = 1; times_as_fast <= 16; times_as_fast *= 2)
            for (unsigned seed = 0; seed < 12; ++seed) {
                const int server = blocks.first, frames = blocks.second;
                const SynthRate rate{frames, times_as_fast};
                if (frames == server && times_as_fast == 1)
                    continue;
                CAPTURE(rate_text(rate, server));
                CAPTURE(seed);
                const SynthDef def = made_at_random(seed * 100 + unsigned(frames + times_as_fast));
                const Played graphs = played(with_rate(def, rate, Said::by_controls), native(server));
                const Played batched = played(with_rate(def, rate, Said::by_constants), native(server));
                const Played lone = played(with_rate(def, rate, Said::by_constants), native(server, false));
                CHECK(graphs.sound.size() == batched.sound.size());
                CHECK(std::memcmp(lone.sound.data(), graphs.sound.data(), lone.sound.size() * sizeof(float)) == 0);
                CHECK(std::memcmp(batched.sound.data(), graphs.sound.data(), lone.sound.size() * sizeof(float)) == 0);
                CHECK(std::any_of(lone.sound.begin(), lone.sound.end(), [](float x) { return std::abs(x) > 0.001f; }));
                CHECK(lone.most_batched == 0);
                CHECK((batched.most_batched >= 3) == !draws(def));
            }
}

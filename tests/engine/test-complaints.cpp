// SPDX-License-Identifier: GPL-3.0-or-later
// What native units print, beside what SuperCollider's own print.
#include "engine/rt/pool.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

const std::string no_memory = "_Ctor: alloc failed, increase server's RT memory (e.g. via ServerOptions)";

/// What a synth of a unit with these inputs prints; an audio signal is its first input if `filters`. Buffer 1 has this
/// many channels, or isn't there.
std::string printed_by(bool native, const char* name, const std::vector<float>& inputs, bool filters, int channels) {
    Settings settings;
    settings.native_ugens = native;
    Fixture f(settings);
    std::vector<float> samples(300);
    if (channels)
        f.engine->buffers().install(1, {samples.data(), 100, channels, 48000., nullptr});
    SynthDef def;
    def.name = "complains";
    def.constants = {0.5f};
    def.units = {unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio})};
    std::vector<InputRef> refs;
    if (filters)
        refs.push_back({0, 0});
    for (const float input : inputs) {
        refs.push_back({-1, uint32_t(def.constants.size())});
        def.constants.push_back(input);
    }
    def.units.push_back(unit(name, Rate::audio, refs, {Rate::audio}));
    Definition* const definition = f.define(def);
    CHECK((definition->code != nullptr) == native);
    f.play(*definition, 1);
    f.render(192);
    f.engine->buffers().install(1, {});
    std::erase(f.printed, '\n');
    return f.printed;
}

void check_both(const char* name, const std::vector<float>& inputs, bool filters, int channels,
                const std::string& line) {
    CAPTURE(name);
    CHECK(printed_by(false, name, inputs, filters, channels) == line);
    CHECK(printed_by(true, name, inputs, filters, channels) == line);
}

/// What a synth of these units prints if the real-time memory is used up when they start. Constants: 0, 1, 2 and -1.
std::string printed_without_memory(bool native, const std::vector<UnitSpec>& units) {
    Settings settings;
    settings.native_ugens = native;
    Fixture f(settings);
    SynthDef def;
    def.name = "complains";
    def.constants = {0, 1, 2, -1};
    def.units = units;
    Definition* const definition = f.define(def);
    CHECK((definition->code != nullptr) == native);
    f.play(*definition, 1); // its units start in the first block
    Pool& pool = f.engine->world().pool();
    std::vector<void*> taken;
    for (size_t bytes = size_t{1} << 20; bytes; bytes /= 2)
        while (void* const memory = pool.allocate(bytes))
            taken.push_back(memory);
    f.render(64);
    for (void* const memory : taken)
        pool.free(memory);
    return f.printed;
}

/// Of scsynth's lines only the first one's unit counts: some name another function than the constructor, and a Demand
/// that reads a Dshuf complains, too.
void check_without_memory(const std::string& name, const std::vector<UnitSpec>& units) {
    CAPTURE(name);
    const std::string theirs = printed_without_memory(false, units);
    CHECK(theirs.starts_with(name + "_"));
    CHECK(theirs.find(": alloc failed") != std::string::npos);
    CHECK(printed_without_memory(true, units) == name + no_memory);
}

/// How many lines of each kind a synth of these units prints in a block.
struct Lines {
    int asked_for = 0, limited = 0;
};
Lines lines_of(std::vector<UnitSpec> units, std::vector<float> constants) {
    Fixture f;
    SynthDef def;
    def.name = "prints";
    def.constants = std::move(constants);
    def.units = std::move(units);
    f.play(*f.define(def), 1);
    float out[2][64];
    float* outs[] = {out[0], out[1]};
    const float* ins[] = {nullptr, nullptr};
    f.engine->process(64, f.start, 48000, ins, outs);
    Lines lines;
    RecordRing& ring = f.engine->events();
    for (auto record = ring.peek(); !record.empty(); record = ring.peek()) {
        EventHeader header;
        std::memcpy(&header, record.data(), sizeof header);
        lines.asked_for += header.kind == EventKind::poll;
        lines.limited += header.kind == EventKind::piece; // the OSC thread makes lines of these, and limits them
        ring.pop();
    }
    return lines;
}

} // namespace

TEST_CASE("what units print in each frame is limited, but for what a user asks to be polled") {
    const InputRef zero{-1, 0}, one{-1, 1};
    const Lines bowed = lines_of({unit("DWGBowed", Rate::audio, std::vector<InputRef>(10, zero), {Rate::audio})}, {0});
    CHECK(bowed.asked_for == 0);
    CHECK(bowed.limited > 0);
    const UnitSpec impulse = unit("Impulse", Rate::audio, {{-1, 2}, zero}, {Rate::audio});
    const Lines poll = lines_of({impulse, unit("Poll", Rate::audio, {{0, 0}, one, zero, one, {-1, 3}}, {Rate::audio})},
                                {0, 1, 24000, 65});
    CHECK(poll.limited == 0);
    CHECK(poll.asked_for == 32);
    const Lines demanded =
        lines_of({impulse, unit("Dpoll", Rate::demand, {one, zero, one, one, {-1, 3}}, {Rate::demand}),
                  unit("Demand", Rate::audio, {{0, 0}, zero, {1, 0}}, {Rate::audio})},
                 {0, 1, 24000, 65});
    CHECK(demanded.limited == 0);
    CHECK(demanded.asked_for > 0);
}

TEST_CASE("no done action of a plugin's unit is a complaint") {
    for (const float action : {1073741824.f, 1342177280.f, 1610612736.f})
        CHECK(printed_by(false, "Line", {0, 1, 0.001f, action}, false, 0) == "");
}

TEST_CASE("units that get no memory say so") {
    for (const char* name : {"DelayN", "DelayL", "DelayC"})
        check_both(name, {1000, 1}, true, 0, name + no_memory);
    for (const char* name : {"CombN", "CombL", "CombC", "AllpassN", "AllpassL", "AllpassC"})
        check_both(name, {1000, 1, 1}, true, 0, name + no_memory);
    check_both("Pluck", {1, 1000, 1, 1, 0.5f}, true, 0, "Pluck" + no_memory);
    check_both("Limiter", {1, 300}, true, 0, "Limiter" + no_memory);
    check_both("Normalizer", {1, 300}, true, 0, "Normalizer" + no_memory);
    check_both("PitchShift", {1000, 1, 0, 0}, true, 0, "PitchShift" + no_memory);
}

TEST_CASE("units that need little memory say that there is none") {
    const InputRef signal{0, 0}, zero{-1, 0}, one{-1, 1}, two{-1, 2}, none{-1, 3};
    const auto audio = [](const char* name, std::vector<InputRef> inputs) {
        return unit(name, Rate::audio, std::move(inputs), {Rate::audio});
    };
    check_without_memory("Klank", {audio("DC", {one}), audio("Klank", {signal, one, zero, one, one, one, one})});
    check_without_memory("Klang", {audio("Klang", {one, zero, one, one, one})});
    check_without_memory("GrainSin", {audio("DC", {one}), audio("GrainSin", {signal, one, one, zero, none, one})});
    check_without_memory("GrainFM",
                         {audio("DC", {one}), audio("GrainFM", {signal, one, one, one, one, zero, none, one})});
    check_without_memory("GrainIn", {audio("DC", {one}), audio("GrainIn", {signal, one, signal, zero, none, one})});
    check_without_memory("GrainBuf",
                         {audio("DC", {one}), audio("GrainBuf", {signal, one, one, one, zero, two, zero, none, one})});
    const UnitSpec none_of_its_own = unit("MaxLocalBufs", Rate::scalar, {one}, {Rate::scalar});
    check_without_memory("MaxLocalBufs", {none_of_its_own, audio("DC", {one})});
    check_without_memory("Dshuf", {unit("Dshuf", Rate::demand, {one, zero, one}, {Rate::demand}),
                                   unit("Demand", Rate::control, {one, zero, signal}, {Rate::control})});
}

TEST_CASE("players say that there is no buffer, or of how many channels it is") {
    const std::string other = "Buffer UGen channel mismatch: expected 1, yet buffer has 2 channels";
    check_both("PlayBuf", {1, 1, 1, 0, 1, 0}, false, 0, "Buffer UGen: no buffer data");
    check_both("PlayBuf", {1, 1, 1, 0, 1, 0}, false, 2, other);
    check_both("PlayBuf", {1, 1, 1, 0, 1, 0}, false, 1, "");
}

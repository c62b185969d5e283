// SPDX-License-Identifier: GPL-3.0-or-later
// Units that write into sample buffers: between inaccessible pages, at places outside of the buffer, and with buffers
// that change while they play.
#include "guarded-memory.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

constexpr int most_buffers = 8;

struct Guarded : Fixture {
    ~Guarded() {
        for (int i = 0; i < most_buffers; ++i)
            take(i);
    }
    void take(int index) {
        const Buffer before = engine->buffers().get(index);
        engine->buffers().install(index, {});
        CHECK(GuardedMemory::untouched(before.data));
        if (before.data)
            GuardedMemory::give(before.data);
    }
    /// A buffer of zeros.
    float* give(int index, int frames, int channels = 1, GuardedMemory::Side side = GuardedMemory::Side::end) {
        take(index);
        const size_t bytes = size_t(frames) * size_t(channels) * sizeof(float);
        auto* data = static_cast<float*>(GuardedMemory::take(bytes, side));
        engine->buffers().install(index, {data, frames, channels, 48000., nullptr});
        return data;
    }
    /// Plays a unit with these inputs, then `signals` times a constant 0.5.
    void play_unit(const char* name, Rate rate, const std::vector<float>& inputs, int signals) {
        SynthDef def;
        def.name = "played";
        def.constants = {0.5f};
        def.units = {unit("DC", rate, {{-1, 0}}, {rate})};
        std::vector<InputRef> refs;
        for (const float input : inputs) {
            refs.push_back({-1, uint32_t(def.constants.size())});
            def.constants.push_back(input);
        }
        refs.insert(refs.end(), size_t(signals), InputRef{0, 0});
        def.units.push_back(unit(name, rate, refs, {rate}));
        play(*define(def), ++last_id);
    }
    /// RecordBuf of as many channels as there are signals, into buffer 1.
    void record(float offset, float run, float loop, int signals = 1, float level = 1, float kept = 0) {
        play_unit("RecordBuf", Rate::audio, {1, offset, level, kept, run, loop, 1, 0}, signals);
    }
    /// Frees the synth that was played last.
    void end() { engine->tree().free(*engine->tree().find_synth(last_id)); }
    int32_t last_id = 0;
};

std::vector<float> samples(const float* data, int count) {
    return {data, data + count};
}

SynthDef spectral(const char* name, const std::vector<float>& inputs) {
    SynthDef def;
    def.name = "spectral";
    def.constants = {0.f, 1.f, 0.5f, 2.f};
    def.units = {
        unit("WhiteNoise", Rate::audio, {}, {Rate::audio}),
        unit("FFT", Rate::control, {{-1, 3}, {0, 0}, {-1, 2}, {-1, 0}, {-1, 1}, {-1, 0}}, {Rate::control}),
    };
    std::vector<InputRef> refs = {{1, 0}};
    for (const float input : inputs) {
        refs.push_back({-1, uint32_t(def.constants.size())});
        def.constants.push_back(input);
    }
    def.units.push_back(unit(name, Rate::control, refs, {Rate::control}));
    return def;
}

} // namespace

TEST_CASE("RecordBuf leaves out what lies before or after its buffer") {
    for (const auto side : {GuardedMemory::Side::start, GuardedMemory::Side::end})
        for (const float level : {1.f, 0.5f})
            for (const int channels : {1, 2, 3}) {
                Guarded f;
                const auto buffer = [&] { return f.give(1, 100, channels, side); };
                const auto count = [&](const float* data) {
                    return std::count_if(data, data + 100 * channels, [](float s) { return s != 0.f; });
                };
                const auto frames = [&](float offset, float run, float loop) {
                    const float* data = buffer();
                    f.record(offset, run, loop, channels, level);
                    f.render(64);
                    f.end();
                    return int(count(data)) / channels;
                };
                CAPTURE(channels);
                CHECK(frames(0, 1, 0) == 64);
                CHECK(frames(-1, 1, 0) == 63);
                CHECK(frames(-1000, 1, 0) == 0);
                CHECK(frames(99, 1, 0) == 1);
                CHECK(frames(100, -1, 0) == 63);
                CHECK(frames(130, -1, 0) == 33);
                CHECK(frames(-1, -1, 0) == 0);
                CHECK(frames(1e30f, -1, 0) == 0);
                CHECK(frames(-1e30f, 1, 0) == 0);
                CHECK(frames(-5, 1, 1) == 64);
                CHECK(frames(1e9f, -1, 1) == 64);
                CHECK(f.printed == "");
            }
}

TEST_CASE("a recorder goes on in a smaller buffer") {
    Guarded f;
    f.give(1, 1000);
    f.record(900, -1, 0);
    f.render(64);
    for (const int frames : {1, 7, 100}) {
        f.give(1, frames);
        f.render(192);
    }
    CHECK(f.printed == "");
    f.give(1, 50, 2);
    f.record(0, 1, 0); // of another number of channels
    f.render(64);
    CHECK(f.printed == "buffer-writing UGen channel mismatch: numInputs 1, yet buffer has 2 channels\n");
}

TEST_CASE("BufWr and Dbufwr write to no place that the buffer lacks") {
    for (const float loop : {0.f, 1.f})
        for (const float phase : {-1e30f, -1.f, 0.f, 4.f, 5.f, 1e9f, 1e30f, 3e38f}) {
            Guarded f;
            CAPTURE(phase);
            f.give(1, 5, 1, phase < 0 ? GuardedMemory::Side::start : GuardedMemory::Side::end);
            f.play_unit("BufWr", Rate::audio, {1, phase, loop}, 1);
            SynthDef def;
            def.name = "demand";
            def.constants = {1.f, phase, loop, 0.25f, 0.f};
            def.units = {
                unit("Dbufwr", Rate::demand, {{-1, 0}, {-1, 1}, {-1, 3}, {-1, 2}}, {Rate::demand}),
                unit("WhiteNoise", Rate::audio, {}, {Rate::audio}),
                unit("Demand", Rate::audio, {{1, 0}, {-1, 4}, {0, 0}}, {Rate::audio}),
            };
            f.play(*f.define(def), 100);
            f.render(64);
            CHECK(f.printed == "");
        }
}

TEST_CASE("DelTapWr fills buffers of any length, also when they are replaced") {
    for (const auto side : {GuardedMemory::Side::start, GuardedMemory::Side::end}) {
        Guarded f;
        const float* data = f.give(1, 100, 1, side);
        f.play_unit("DelTapWr", Rate::audio, {1}, 1);
        f.render(128);
        CHECK(samples(data, 100) == std::vector<float>(100, 0.5f));
        for (const int frames : {1, 2, 3, 15, 16, 17}) {
            data = f.give(1, frames, 1, side);
            f.render(64);
            CHECK(samples(data, frames) == std::vector<float>(size_t(frames), 0.5f));
            f.play_unit("DelTapWr", Rate::audio, {1}, 1); // the constructor clears it
        }
        CHECK(f.printed == "");
    }
}

TEST_CASE("spectral units write only into a buffer that has room, and the chain goes on") {
    struct Case {
        const char* name;
        std::vector<float> inputs;
        int frames; ///< the fewest that do, with spectra of 256 samples
    };
    const std::vector<Case> cases = {
        {"PV_MagBuffer", {1}, 127},
        {"PV_FreqBuffer", {1}, 127},
        {"PV_Whiten", {1, 0.1f, 0.1f, 0, 1}, 129},
    };
    for (const Case& each : cases)
        for (const int missing : {0, 1, 3}) {
            CAPTURE(each.name);
            CAPTURE(missing);
            Guarded f;
            f.give(2, 256);
            const float* data = f.give(1, each.frames - missing);
            f.play(*f.define(spectral(each.name, each.inputs)), 1);
            f.render(1024);
            const bool writes = std::any_of(data, data + each.frames - missing, [](float s) { return s != 0.f; });
            CHECK(writes == (missing == 0));
            const std::string line =
                std::string(each.name) + ": buffer 1 is too small, or was replaced, and isn't written to";
            CHECK((f.printed.find(line) != f.printed.npos) == (missing > 0));
            f.give(1, 8); // too small for each
            f.render(1024);
            CHECK(f.engine->tree().find(1));
        }
}

TEST_CASE("PV_RecordBuf begins in its buffer, and stops when a smaller one takes its place") {
    for (const float first : {0.f, -3.f, 1.f, 1e9f}) {
        Guarded f;
        CAPTURE(first);
        f.give(2, 256);
        const float* data = f.give(1, 2 * 256 + 3);
        f.play(*f.define(spectral("PV_RecordBuf", {1, first, 1, 1, 0.5f, 1})), 1);
        f.render(1024);
        CHECK(data[0] == 256);
        CHECK(f.printed == "");
        data = f.give(1, 8);
        f.render(1024);
        CHECK(samples(data, 8) == std::vector<float>(8));
        CHECK(f.printed == "PV_RecordBuf: buffer 1 is too small, or was replaced, and isn't written to\n");
    }
}

TEST_CASE("a unit that had no buffer when its synth started works once there is one") {
    Guarded f;
    f.give(2, 256);
    f.play(*f.define(spectral("PV_MagBuffer", {1})), 1);
    f.render(512);
    const float* data = f.give(1, 127);
    f.render(512);
    CHECK(std::any_of(data, data + 127, [](float s) { return s != 0.f; }));
}

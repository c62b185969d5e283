// SPDX-License-Identifier: GPL-3.0-or-later
// DiskIn, VDiskIn and DiskOut in real time, with files that come too late.
#include "engine/plugins/ugens.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/world/test-streams.hpp"
#include "osc/test-command-bench.hpp"

#include <algorithm>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;
using namespace scs::test;

namespace {

constexpr int block = 64, frames = 256; ///< of the buffers: halves of two blocks

UnitSpec unit(const char* name, std::vector<InputRef> inputs, std::vector<Rate> outputs) {
    return {name, Rate::audio, 0, std::move(inputs), std::move(outputs)};
}

/// Controls 0 and 1: buffer and loop; 2: rate.
UnitSpec controls() {
    return {"Control", Rate::control, 0, {}, {Rate::control, Rate::control, Rate::control}};
}

struct Bench : CommandBench {
    Bench() {
        define("in", {controls(), unit("DiskIn", {{0, 0}, {0, 1}}, {Rate::audio}), unit("Out", {{-1, 0}, {1, 0}}, {})});
        define("vin", {controls(), unit("VDiskIn", {{0, 0}, {0, 2}, {0, 1}, {-1, 0}}, {Rate::audio}),
                       unit("Out", {{-1, 0}, {1, 0}}, {})});
        define("out",
               {controls(), unit("DC", {{-1, 1}}, {Rate::audio}), unit("Integrator", {{1, 0}, {-1, 1}}, {Rate::audio}),
                unit("DiskOut", {{0, 0}, {2, 0}}, {Rate::audio}), unit("Out", {{-1, 0}, {3, 0}}, {})});
    }
    void define(const char* name, std::vector<UnitSpec> units) {
        SynthDef def;
        def.name = name;
        def.constants = {0.f, 1.f};
        def.controls = {0.f, 0.f, 1.f};
        def.control_names = {{"buf", 0}, {"loop", 1}, {"rate", 2}};
        def.units = std::move(units);
        auto program = compile(def, installed_ugens(), block, engine().settings().wire_buffers);
        REQUIRE_MESSAGE(program, program.error());
        Definition* replaced;
        REQUIRE(
            engine().definitions().add(new Definition(std::move(program.value()), engine().settings()), replaced).ok());
    }
    /// What the next block sounds like.
    std::vector<float> play() {
        std::vector<float> sound(block);
        const float* in[] = {nullptr, nullptr};
        float* out[] = {sound.data(), nullptr};
        engine().process(block, NtpTime(1) << 32, 48000, in, out);
        (*this)("/status");
        return sound;
    }
    /// The same, without the silence of blocks that came too late.
    std::vector<float> play_on(int blocks) {
        std::vector<float> all;
        REQUIRE(comes_true([&] {
            const auto sound = play();
            if (sound.back() != 0)
                all.insert(all.end(), sound.begin(), sound.end());
            return all.size() >= size_t(blocks) * block;
        }));
        return all;
    }
    void cue(const std::string& path, int size = frames) {
        CHECK((*this)("/b_alloc", 0, size, 1).starts_with("[ \"/done\""));
        read(path);
    }
    void read(const std::string& path) { CHECK((*this)("/b_read", 0, path, 0, -1, 0, 1).starts_with("[ \"/done\"")); }
    void record(const std::string& path) {
        CHECK((*this)("/b_alloc", 0, frames, 1).starts_with("[ \"/done\""));
        CHECK((*this)("/b_write", 0, path, "wav", "float", 0, 0, 1).starts_with("[ \"/done\""));
    }
    uint64_t silent() { return engine().status().silent_frames; }
    uint64_t dropped() { return engine().status().dropped_frames; }
};

/// The numbers of the file from `first` on.
std::vector<float> from(int first, size_t count) {
    std::vector<float> all;
    for (size_t i = 0; i < count; ++i)
        all.push_back(float(first) + float(i));
    return all;
}

std::string difference(const std::vector<float>& found, const std::vector<float>& expected) {
    if (found.size() != expected.size())
        return std::to_string(found.size()) + " frames";
    for (size_t i = 0; i < found.size(); ++i)
        if (found[i] != expected[i])
            return "frame " + std::to_string(i) + ": " + std::to_string(found[i]) + " in place of " +
                   std::to_string(expected[i]);
    return "";
}

} // namespace

TEST_CASE("a file that answers late is silent meanwhile, and no frame is left out") {
    Folder folder;
    write_file(folder / "a", numbers(1 << 17));
    for (const char* synth : {"in", "vin"}) {
        Bench bench;
        bench.cue(folder / "a");
        CHECK(bench("/s_new", synth, 1, 0, 0) == "");
        const bool varied = synth == std::string("vin");
        {
            const DeadFile dead(folder / "a");
            std::vector<float> heard;
            for (int i = 0; i < 2 * frames / block; ++i) {
                const auto sound = bench.play();
                heard.insert(heard.end(), sound.begin(), sound.end());
            }
            // What libsndfile has read ahead is there, and nothing after it.
            const auto end = std::find(heard.begin(), heard.end(), 0.f);
            CHECK(std::all_of(end, heard.end(), [](float x) { return x == 0; }));
        }
        const uint64_t late = bench.silent();
        const auto sound = bench.play_on(1000);
        const int first = int(sound[0]);
        CHECK(difference(sound, from(first, sound.size())) == "");
        CHECK((varied || late % block == 0));
        CHECK(bench.silent() >= late);
        CHECK(bench.dropped() == 0);
    }
}

TEST_CASE("frames that come too late are counted, and the log says so once in ten seconds") {
    Folder folder;
    write_file(folder / "a", numbers(1 << 17));
    Bench bench;
    bench.cue(folder / "a");
    const DeadFile dead(folder / "a"); // libsndfile hasn't read ahead more than some thousand frames
    CHECK(bench("/s_new", "in", 1, 0, 0) == "");
    REQUIRE(comes_true([&] {
        bench.play();
        return held == 1 && bench.silent() > 0;
    }));
    const uint64_t before = bench.silent();
    std::string printed;
    for (int i = 0; i < 7500; ++i) // ten seconds
        printed += bench.render();
    CHECK(bench.silent() == before + 7500 * block);
    CHECK(printed.find("a file wasn't read in time") == printed.rfind("a file wasn't read in time"));
    CHECK(printed.find("frames of silence so far") != std::string::npos);
}

TEST_CASE("what can't be written in time is dropped by whole frames and counted, and the rest is in the file") {
    Folder folder;
    Bench bench;
    bench.record(folder / "a");
    CHECK(bench("/s_new", "out", 1, 0, 0) == "");
    int blocks = 0;
    {
        const DeadFile dead(folder / "a");
        REQUIRE(comes_true([&] {
            bench.play();
            ++blocks;
            return bench.dropped() > 1000;
        }));
    }
    const uint64_t dropped = bench.dropped();
    CHECK(dropped % block == 0);
    REQUIRE(comes_true([&] {
        const auto counted = bench.play();
        ++blocks;
        return bench.dropped() == 0 || counted[block - 1] > 3000;
    }));
    CHECK(bench("/n_free", 1) == "");
    CHECK(bench("/b_close", 0).starts_with("[ \"/done\""));
    const auto recorded = read_file(folder / "a");
    CHECK(recorded.size() == uint64_t(blocks) * block - bench.dropped());
    CHECK(recorded.front() == 1);
    CHECK(recorded.back() == float(blocks * block));
    for (size_t i = block; i < recorded.size(); i += block)
        CHECK(recorded[i] == recorded[i - 1] + 1 + block * std::round((recorded[i] - recorded[i - 1] - 1) / block));
}

TEST_CASE("the file is opened anew, closed and freed while it plays") {
    Folder folder;
    write_file(folder / "a", numbers(1 << 17));
    write_file(folder / "b", numbers(1 << 17));
    Bench bench;
    bench.cue(folder / "a");
    CHECK(bench("/s_new", "in", 1, 0, 0) == "");
    CHECK(difference(bench.play_on(40), from(1, 40 * block)) == ""); // whole buffers have been played
    bench.read(folder / "b");
    CHECK(difference(bench.play_on(40), from(1, 40 * block)) == "");
    SUBCASE("closed") {
        bench("/b_close", 0);
        CHECK(bench.play_on(frames / block).size() == frames); // what the buffer holds
        for (int i = 0; i < 10; ++i)
            CHECK(bench.play().back() == 0);
    }
    SUBCASE("freed") {
        bench("/b_free", 0);
    }
    SUBCASE("replaced by a shorter one") {
        bench("/b_alloc", 0, 2 * block, 1);
    }
    SUBCASE("replaced by a longer one") {
        bench("/b_alloc", 0, 100 * block, 1);
    }
    SUBCASE("freed while the disk doesn't answer") {
        const DeadFile dead(folder / "b");
        REQUIRE(comes_true([&] {
            bench.play();
            return held == 1;
        }));
        bench("/b_free", 0);
    }
    for (int i = 0; i < 10; ++i)
        CHECK(bench.play().back() == 0);
    CHECK(comes_true([] { return held == 0; }));
    bench.cue(folder / "a");
    CHECK(difference(bench.play_on(40), from(1, 40 * block)) == "");
}

TEST_CASE("a loop of a file that is in the buffer is never late") {
    Folder folder;
    write_file(folder / "a", numbers(10));
    write_file(folder / "empty", {});
    Bench bench;
    bench.cue(folder / "a");
    CHECK(bench("/s_new", "in", 1, 0, 0, "loop", 1) == "");
    for (int i = 0; i < 20; ++i) {
        const auto sound = bench.play();
        for (int frame = 0; frame < block; ++frame)
            REQUIRE(sound[size_t(frame)] == float((i * block + frame) % 10 + 1));
    }
    bench.cue(folder / "empty");
    CHECK(bench.play() == std::vector<float>(block));
    CHECK(bench.silent() == 0);
}

TEST_CASE("rates that no file is fast enough for, and those that make no sense") {
    Folder folder;
    write_file(folder / "a", numbers(1 << 17));
    Bench bench;
    bench.cue(folder / "a");
    for (const float rate : {2.1f, 1e30f, INFINITY, NAN, -1.f, -INFINITY, 0.f}) {
        CHECK(bench("/s_new", "vin", 1, 0, 0, "rate", rate) == "");
        bench.play();
        bench.play();
        bench("/n_set", 1, "rate", 1.f);
        bench.play();
        bench("/n_set", 1, "rate", rate);
        bench.play();
        bench("/n_free", 1);
    }
    CHECK(bench.engine().status().broken == false);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "osc/offline.hpp"
#include "osc/test-command-bench.hpp"
#include "osc/test-rig.hpp"

#include <sndfile.h>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::test;

namespace {

std::vector<std::string> calls; ///< what the plugin below was asked for
bool stage_fails[3];

bool stage(int number) {
    calls.push_back("stage " + std::to_string(number));
    return !stage_fails[number - 2];
}

/// name, completion message
void run_asynchronously(::World* world, void*, ::sc_msg_iter* args, void* from) {
    const std::string word = args->gets("");
    const int bytes = args->nextTag('x') == 'b' ? int(args->getbsize()) : 0;
    std::vector<char> completion(size_t(bytes), 0); // getb() copies as much as there is room for
    if (bytes > 0)
        args->getb(completion.data(), completion.size());
    calls.push_back(word);
    interface_table()->fDoAsynchronousCommand(
        world, from, "testAsync", &calls, [](::World*, void*) { return stage(2); },
        [](::World*, void*) { return stage(3); }, [](::World*, void*) { return stage(4); },
        [](::World*, void* data) { static_cast<std::vector<std::string>*>(data)->push_back("cleanup"); }, bytes,
        completion.data());
}

void note_number(::Unit* unit, ::sc_msg_iter* args) {
    const int number = args->geti();
    const char* text = args->gets(); // null at the end
    calls.push_back("unit " + std::to_string(unit->mParentIndex) + " " + std::to_string(number) + " " +
                    (text ? text : "none"));
}

void be_one(::Unit* unit) {
    calls.push_back("constructed");
    unit->mCalcFunc = [](::Unit* self, int) { self->mOutBuf[0][0] = 1.f; };
    unit->mCalcFunc(unit, 1);
}

/// A bench with the plugin, and a synth of its UGen once asked for.
struct Bench : CommandBench {
    Bench() {
        PluginRegistry& registry = PluginRegistry::instance();
        registry.define_command("testAsync", run_asynchronously, nullptr);
        registry.define_unit("TestOne", sizeof(::Unit), be_one, nullptr, 0);
        registry.define_unit_command("TestOne", "note", {note_number});
        calls.clear();
        for (bool& fails : stage_fails)
            fails = false;
    }
    void start() {
        const auto definition = testing::synthdef("one", "TestOne");
        run(message("/d_recv", {std::span<const std::byte>(definition)}));
        (*this)("/s_new", "one", 1000, 0, 0);
    }
};

/// One line each.
std::string called() {
    std::string all;
    for (const std::string& call : calls)
        all += call + ";";
    calls.clear();
    return all;
}

using testing::Bytes;

/// A bundle of a score, to be heard at this frame.
Bytes in_score(int frame, const std::vector<Bytes>& elements) {
    const Bytes packet = testing::bundle(ntp_advance(0, frame, 48000), elements);
    Bytes scored;
    testing::put_int(scored, packet.size(), 4);
    scored.insert(scored.end(), packet.begin(), packet.end());
    return scored;
}

/// What the plugin was asked for while this was rendered, and the cycles.
std::string called_by(const std::vector<Bytes>& score) {
    Bytes bytes;
    for (const auto& each : score)
        bytes.insert(bytes.end(), each.begin(), each.end());
    ServerSettings settings;
    settings.engine.sample_rate = 48000;
    settings.engine.rt_memory_kib = 1024;
    settings.load_synthdefs = false;
    calls.clear();
    REQUIRE(render_score(bytes, settings, [](const float* const*, int frames) {
        calls.push_back(std::to_string(frames) + " frames");
        return true;
    }));
    return called();
}

} // namespace

TEST_CASE("a plugin's command goes through its stages and is answered") {
    Bench bench;
    const auto completion = CommandBench::message("/c_get", {3});
    const auto packet = CommandBench::message(
        "/cmd", {std::string_view("testAsync"), std::string_view("hello"), std::span<const std::byte>(completion)});
    CHECK(bench.run(packet) == "[ \"/c_set\", 3, 0 ]\n[ \"/done\", \"testAsync\" ]\n");
    CHECK(called() == "hello;stage 2;stage 3;stage 4;cleanup;");
}

TEST_CASE("a stage that fails is the last, and nothing is answered") {
    Bench bench;
    std::string expected = "x;";
    for (int i = 0; i < 3; ++i) {
        stage_fails[i] = true;
        CHECK(bench("/cmd", "testAsync", "x") == "");
        stage_fails[i] = false;
        expected += "stage " + std::to_string(i + 2) + ";";
        CHECK(called() == expected + "cleanup;");
    }
}

TEST_CASE("a plugin's command that isn't there fails") {
    Bench bench;
    CHECK(bench("/cmd", "nothing", 1) == "[ \"/fail\", \"/cmd\", \"failed\" ]\n");
    CHECK(bench("/cmd") == "[ \"/fail\", \"/cmd\", \"failed\" ]\n");
}

TEST_CASE("a unit gets its commands, those that come early after its constructor") {
    Bench bench;
    bench.start();
    bench("/u_cmd", 1000, 0, "note", 7, "early");
    bench("/u_cmd", 1000, 0, "note", 8, "too");
    CHECK(called() == "");
    bench.render();
    CHECK(called() == "constructed;unit 0 7 early;unit 0 8 too;");
    CHECK(bench("/u_cmd", 1000, 0, "note") == "");
    CHECK(called() == "unit 0 0 none;");
}

TEST_CASE("early unit commands of a synth that never runs are forgotten") {
    Bench bench;
    bench.start();
    bench("/u_cmd", 1000, 0, "note", 7);
    bench("/n_free", 1000);
    bench.render();
    CHECK(called() == "");
}

TEST_CASE("unit commands that fail") {
    Bench bench;
    bench.start();
    bench.render();
    CHECK(bench("/u_cmd", 99, 0, "note") == "[ \"/fail\", \"/u_cmd\", \"Node 99 not found\" ]\n");
    CHECK(bench("/u_cmd", 0, 0, "note") == "[ \"/fail\", \"/u_cmd\", \"Node 0 not found\" ]\n");
    CHECK(bench("/u_cmd", 1000, 1, "note") == "[ \"/fail\", \"/u_cmd\", \"index out of range\" ]\n");
    CHECK(bench("/u_cmd", 1000, -1, "note") == "[ \"/fail\", \"/u_cmd\", \"index out of range\" ]\n");
    CHECK(bench("/u_cmd", 1000, 0, "nothing") == "[ \"/fail\", \"/u_cmd\", \"failed\" ]\n");
    CHECK(bench("/u_cmd", 1000, 0) == "[ \"/fail\", \"/u_cmd\", \"failed\" ]\n");
}

TEST_CASE("a synth that is traced tells its signals once") {
    Bench bench;
    bench.start();
    bench.render();
    CHECK(bench("/n_trace", 1000, 0) == "");
    CHECK(bench.render() == "\nTRACE 1000  one    #units: 1\n  unit 0 TestOne\n    in  440 440\n    out 1\n");
    CHECK(bench.render() == "");
    CHECK(bench("/n_trace", 5) == "[ \"/fail\", \"/n_trace\", \"Node 5 not found\" ]\n");
}

TEST_CASE("offline a cycle goes on to the next bundle, but ends where a plugin may ask for something in it") {
    const Bench bench; // has the plugin
    const auto definition = testing::synthdef("one", "TestOne");
    const auto define = CommandBench::message("/d_recv", {std::span<const std::byte>(definition)});
    const auto start = CommandBench::message("/s_new", {std::string_view("one"), 1000, 0, 0});
    const auto ask = CommandBench::message(
        "/cmd", {std::string_view("testAsync"), std::string_view("x"), std::span<const std::byte>(start)});
    const auto nothing = CommandBench::message("/sync", {0});
    const std::string asked = "x;stage 2;stage 3;stage 4;cleanup;";

    CHECK(called_by({in_score(10, {define, start}), in_score(645, {nothing})}) == "constructed;640 frames;64 frames;");
    CHECK(called_by({in_score(10, {define, ask}), in_score(645, {nothing})}) ==
          asked + "64 frames;constructed;576 frames;64 frames;");
    // Its command may be what completes another one.
    const auto completed =
        CommandBench::message("/d_recv", {std::span<const std::byte>(definition), std::span<const std::byte>(ask)});
    CHECK(called_by({in_score(10, {completed}), in_score(645, {nothing})}) ==
          asked + "64 frames;constructed;576 frames;64 frames;");
    // A bundle may have its turn later than the one around it.
    CHECK(called_by({in_score(10, {define, testing::bundle(ntp_advance(0, 100, 48000), {start})}),
                     in_score(645, {nothing})}) == "64 frames;constructed;64 frames;512 frames;64 frames;");
    CHECK(called_by(
              {in_score(10, {define, testing::bundle(ntp_advance(0, 100, 48000), {ask})}), in_score(645, {nothing})}) ==
          "64 frames;" + asked + "64 frames;constructed;512 frames;64 frames;");
}

TEST_CASE("offline the completion of a plugin's command comes before its fourth stage") {
    const Bench bench; // has the plugin
    const auto inner = CommandBench::message("/cmd", {std::string_view("testAsync"), std::string_view("y")});
    const auto outer = CommandBench::message(
        "/cmd", {std::string_view("testAsync"), std::string_view("x"), std::span<const std::byte>(inner)});
    const auto nothing = CommandBench::message("/sync", {0});
    CHECK(called_by({in_score(10, {outer}), in_score(645, {nothing})}) ==
          "x;stage 2;stage 3;y;stage 2;stage 3;stage 4;cleanup;stage 4;cleanup;64 frames;576 frames;64 frames;");
    // Without another block, too.
    CHECK(called_by({in_score(10, {outer})}) ==
          "x;stage 2;stage 3;y;stage 2;stage 3;stage 4;cleanup;stage 4;cleanup;64 frames;");
}

TEST_CASE("offline a line is printed that nothing follows") {
    PluginRegistry::instance().define_command(
        "testHalfLine",
        [](::World*, void*, ::sc_msg_iter* args, void*) {
            interface_table()->fPrint("one\nand");
            interface_table()->fPrint(" half");
            if (args->geti())
                interface_table()->fPrint("\n");
        },
        nullptr);
    for (const int whole : {0, 1}) {
        std::string lines;
        ServerSettings settings;
        settings.engine.rt_memory_kib = 1024;
        settings.load_synthdefs = false;
        settings.log = [&](ServerSettings::Level level, const std::string& line) {
            if (level == ServerSettings::Level::info)
                lines += line + ";";
        };
        const auto half = CommandBench::message("/cmd", {std::string_view("testHalfLine"), whole});
        const auto nothing = CommandBench::message("/sync", {0});
        Bytes score = in_score(10, {half});
        const Bytes last = in_score(645, {nothing});
        score.insert(score.end(), last.begin(), last.end());
        REQUIRE(render_score(score, settings, [](const float* const*, int) { return true; }));
        CHECK(lines == "one;and half;");
    }
}

TEST_CASE("plugins get the numbers of sound file formats by scsynth's names") {
    const auto format = interface_table()->fSndFileFormatInfoFromStrings;
    SF_INFO info{};
    CHECK(format(&info, "WAV", "int24") == 0);
    CHECK(info.format == (SF_FORMAT_WAV | SF_FORMAT_PCM_24));
    CHECK(format(&info, nullptr, nullptr) == 0);
    CHECK(info.format == (SF_FORMAT_AIFF | SF_FORMAT_PCM_16));
    CHECK(format(&info, "nonsense", "int16") != 0);
    CHECK(format(&info, "aiff", "nonsense") != 0);
    CHECK(info.format == (SF_FORMAT_AIFF | SF_FORMAT_PCM_16));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What native units tell clients and the log, beside what the plugins' units tell.
#include "test-support.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

using Constants = std::vector<float>;

/// The inputs that are constants: a text's length and its characters.
std::vector<InputRef> text(Constants& constants, const char* characters) {
    std::vector<InputRef> refs{{-1, uint32_t(constants.size())}};
    constants.push_back(float(std::strlen(characters)));
    for (; *characters; ++characters) {
        refs.push_back({-1, uint32_t(constants.size())});
        constants.push_back(float(*characters));
    }
    return refs;
}

/// A unit that tells at an impulse of 1500 Hz, or at one every other block, the value of a wave and of a control.
/// `path`: of a SendReply, or a Poll's label.
SynthDef telling_def(const char* name, Rate rate, const char* path, bool values_first = false) {
    SynthDef def;
    def.name = "tells";
    def.constants = {0.f, rate == Rate::audio ? 1500.f : 370.f, 3.f, 200.f};
    def.controls = {0.5f};
    def.control_names = {{"value", 0}};
    std::vector<InputRef> inputs{{1, 0}};
    const std::vector<InputRef> values{{2, 0}, {0, 0}}, characters = text(def.constants, path);
    if (values_first)
        inputs.push_back(values[0]);
    inputs.push_back({-1, 2});
    if (std::string(name) != "SendTrig")
        inputs.insert(inputs.end(), characters.begin(), characters.end());
    if (!values_first)
        inputs.insert(inputs.end(), values.begin(), values.end() - (std::string(name) == "SendTrig"));
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control}),
        unit("Impulse", rate, {{-1, 1}, {-1, 0}}, {rate}),
        unit("LFCub", rate, {{-1, 3}, {-1, 0}}, {rate}),
        unit(name, rate, inputs, std::vector<Rate>(std::string(name) == "Poll", rate)),
    };
    return def;
}

/// What was told, a record of the engine's each.
std::vector<std::string> told(Fixture& f, int blocks) {
    std::vector<std::string> all;
    float out[2][64];
    float* outs[] = {out[0], out[1]};
    const float* ins[] = {nullptr, nullptr};
    for (int block = 0; block < blocks; ++block) {
        f.engine->process(64, ntp_advance(f.start, f.position, 48000), 48000, ins, outs);
        f.position += 64;
        RecordRing& ring = f.engine->events();
        for (auto record = ring.peek(); !record.empty(); record = ring.peek()) {
            EventHeader header;
            std::memcpy(&header, record.data(), sizeof header);
            if (header.kind == EventKind::trigger || header.kind == EventKind::node_reply ||
                header.kind == EventKind::poll)
                all.emplace_back(reinterpret_cast<const char*>(record.data()), header.bytes);
            ring.pop();
        }
    }
    return all;
}

std::vector<std::string> told_by(const SynthDef& def, bool native, bool batching, int voices) {
    Settings settings;
    settings.native_ugens = native;
    settings.batching = batching;
    Fixture f(settings);
    Definition* const definition = f.define(def);
    CHECK((definition->code != nullptr) == native);
    if (native)
        CHECK(definition->code->batchable);
    for (int32_t id = 1; id <= voices; ++id)
        set_named(f.engine->tree(), f.play(*definition, id), "value", 0, float(id) / 8);
    std::vector<std::string> all = told(f, 6);
    if (f.engine->tree().find(2)) {
        set_named(f.engine->tree(), *static_cast<Synth*>(f.engine->tree().find(2)), "value", 0, -3.25f);
        f.engine->tree().free(*f.engine->tree().find(1));
    }
    const std::vector<std::string> rest = told(f, 4);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

void check_same(const SynthDef& def) {
    for (const int voices : {1, 9}) {
        CAPTURE(voices);
        const auto plugins = told_by(def, false, true, voices);
        CHECK(plugins.size() >= size_t(2 * voices));
        CHECK(told_by(def, true, false, voices) == plugins);
        CHECK(told_by(def, true, true, voices) == plugins);
    }
}

} // namespace

TEST_CASE("native units tell what the plugins' units tell, in the same order, alone and in batches") {
    for (const Rate rate : {Rate::audio, Rate::control}) {
        check_same(telling_def("SendTrig", rate, ""));
        for (const char* path : {"/told", "", "x"})
            check_same(telling_def("SendReply", rate, path));
        for (const char* label : {"value", "", "a%s"})
            check_same(telling_def("Poll", rate, label, true));
    }
}

TEST_CASE("what has two units that tell isn't batched, so that they take turns as in lone voices") {
    SynthDef def = telling_def("SendTrig", Rate::audio, "");
    def.units.push_back(def.units.back());
    Fixture f;
    const Definition* const definition = f.define(def);
    REQUIRE(definition->code);
    CHECK_FALSE(definition->code->batchable);
    CHECK(definition->code->sends);
    CHECK_FALSE(definition->code->lone_ahead);
}

TEST_CASE("a path that isn't made of constants, or a long one, leaves the unit to the plugins") {
    SynthDef def = telling_def("SendReply", Rate::audio, "/told");
    def.units.back().inputs[4] = {0, 0};
    Fixture f;
    CHECK_FALSE(f.define(def)->code);
    CHECK_FALSE(f.define(telling_def("SendReply", Rate::audio, std::string(256, 'a').c_str()))->code);
    CHECK(f.define(telling_def("SendReply", Rate::audio, std::string(255, 'a').c_str()))->code);
}

TEST_CASE("what there is no room for is dropped and counted") {
    Fixture f;
    Definition* const definition = f.define(telling_def("SendReply", Rate::audio, std::string(255, 'a').c_str()));
    for (int32_t id = 1; id <= 100; ++id)
        f.play(*definition, id);
    float out[2][64];
    float* outs[] = {out[0], out[1]};
    const float* ins[] = {nullptr, nullptr};
    for (int block = 0; block < 40; ++block) // nobody reads the ring
        f.engine->process(64, ntp_advance(f.start, 64 * block, 48000), 48000, ins, outs);
    CHECK(f.engine->status().dropped_events > 0);
    f.pump();
    CHECK(f.engine->tree().find(100));
}

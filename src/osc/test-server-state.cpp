// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/server-state.hpp"
#include "osc/test-rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

using Sources = std::vector<std::shared_ptr<const DefinitionSource>>;

Result<SavedState> read(std::span<const std::byte> score, ScoreOf whose = ScoreOf::file) {
    return read_score(score, whose, allocate_samples);
}

Bytes score_of(const Sources& sources, const std::vector<BufferState>& buffers, const TreeState& tree) {
    Bytes bytes;
    CHECK(write_score(sources, buffers, tree, [&](std::span<const std::byte> some) {
        bytes.insert(bytes.end(), some.begin(), some.end());
        return true;
    }));
    return bytes;
}

void check_same(const NodeState& a, const NodeState& b) {
    CHECK(a.id == b.id);
    CHECK(a.parent == b.parent);
    CHECK(a.satellite == b.satellite);
    CHECK(a.parallel == b.parallel);
    CHECK(a.paused == b.paused);
    CHECK(a.definition == b.definition);
    CHECK(a.controls == b.controls);
    REQUIRE(a.mapped.size() == b.mapped.size());
    for (size_t i = 0; i < a.mapped.size(); ++i) {
        CHECK(a.mapped[i].control == b.mapped[i].control);
        CHECK(a.mapped[i].bus == b.mapped[i].bus);
        CHECK(a.mapped[i].audio == b.mapped[i].audio);
    }
}

TreeState some_tree() {
    TreeState tree;
    tree.control_buses = {0.5f, 0, -3, std::numeric_limits<float>::infinity()};
    NodeState group;
    group.id = 1;
    tree.nodes.push_back(group);
    group.id = 2;
    group.parent = 1;
    group.parallel = true;
    group.paused = true;
    tree.nodes.push_back(group);
    NodeState synth;
    synth.id = 1000;
    synth.parent = 2;
    synth.definition = "a synth";
    synth.controls.resize(2500);
    for (size_t i = 0; i < synth.controls.size(); ++i)
        synth.controls[i] = float(i) * 0.1f;
    synth.mapped = {{3, 17, false}, {4, 5, true}};
    tree.nodes.push_back(synth);
    NodeState satellite;
    satellite.id = -16;
    satellite.parent = 1000;
    satellite.satellite = Satellite::preceding;
    satellite.definition = "s";
    satellite.paused = true;
    tree.nodes.push_back(satellite);
    satellite.id = 1001;
    satellite.satellite = Satellite::succeeding;
    tree.nodes.push_back(satellite);
    return tree;
}

} // namespace

TEST_CASE("what a score was written of is read from it") {
    const TreeState tree = some_tree();
    const Bytes file = synthdef("a synth", "");
    const Sources sources{std::make_shared<DefinitionSource>(DefinitionSource{"a synth", file})};
    std::vector<float> samples(3000);
    for (size_t i = 0; i < samples.size(); ++i)
        samples[i] = std::sin(float(i));
    samples[7] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<BufferState> buffers{{3, 1500, 2, 44100, samples.data(), {}}, {5, 1, 1, 0, nullptr, {}}};
    const auto saved = read(score_of(sources, buffers, tree));
    REQUIRE(saved);
    const SavedState& state = saved.value();
    REQUIRE(state.definitions.size() == 1);
    CHECK(state.definitions[0] == file);
    REQUIRE(state.buffers.size() == 2);
    CHECK(state.buffers[0].number == 3);
    CHECK(state.buffers[0].frames == 1500);
    CHECK(state.buffers[0].channels == 2);
    CHECK(state.buffers[0].rate == 44100);
    CHECK(std::memcmp(state.samples[0].get(), samples.data(), samples.size() * sizeof(float)) == 0);
    CHECK(state.samples[1][0] == 0);
    CHECK(state.tree.control_buses == tree.control_buses);
    REQUIRE(state.tree.nodes.size() == tree.nodes.size());
    for (size_t i = 0; i < tree.nodes.size(); ++i)
        check_same(state.tree.nodes[i], tree.nodes[i]);
}

TEST_CASE("of a buffer only what isn't zero is written") {
    std::vector<float> samples(1'000'000);
    const std::vector<BufferState> buffers{{0, 1'000'000, 1, 48000, samples.data(), {}}};
    CHECK(score_of({}, buffers, {}).size() < 1000);
    samples[700'000] = -0.0f;
    const Bytes score = score_of({}, buffers, {});
    CHECK(score.size() < 10'000);
    const auto state = read(score);
    REQUIRE(state);
    CHECK(std::memcmp(state.value().samples.at(0).get(), samples.data(), samples.size() * sizeof(float)) == 0);
}

TEST_CASE("a folder's score names files of samples, and clients") {
    TreeState tree;
    tree.logins = {{{0x0100007f, 0x1234}, 2}};
    BufferState buffer{3, 5, 2, 48000, nullptr, "samples-1"};
    const auto saved = read(score_of({}, {buffer}, tree), ScoreOf::kept_folder);
    REQUIRE(saved);
    CHECK(saved.value().buffers.at(0).file == "samples-1");
    CHECK(saved.value().buffers[0].frames == 5);
    CHECK(saved.value().buffers[0].rate == 48000);
    CHECK(saved.value().tree.logins.at(0).peer == tree.logins[0].peer);
    CHECK(saved.value().tree.logins[0].id == 2);
}

TEST_CASE("a sink that is full ends the writing") {
    int taken = 0;
    CHECK(!write_score({}, {}, some_tree(), [&](std::span<const std::byte>) { return ++taken < 3; }));
    CHECK(taken == 3);
}

TEST_CASE("what isn't a saved state is refused") {
    const auto fails = [](const Bytes& message) {
        Bytes bytes;
        const Bytes packet = bundle(0, {message});
        put_int(bytes, packet.size(), 4);
        bytes.insert(bytes.end(), packet.begin(), packet.end());
        return !read(bytes);
    };
    CHECK(!fails(message("/g_new", {5, 1, 0})));
    CHECK(fails(message("/g_new", {5, 0, 0})));           // not to the tail
    CHECK(fails(message("/quit")));                       // another command
    CHECK(fails(message("/b_alloc", {-1, 4, 1})));        // no buffer's number
    CHECK(fails(message("/b_alloc", {1, 65536, 65536}))); // too large
    CHECK(fails(message("/b_alloc", {1, 0, 1})));
    CHECK(fails(message("/b_setn", {1, 0, 1, 0.f}))); // of no buffer
    CHECK(fails(message("/n_setn", {7, 0, 1, 0.f}))); // of no node
    CHECK(fails(message("/c_setn", {-1, 1, 0.f})));
    CHECK(fails(message("/c_setn", {1, 1, 0.f}))); // with a gap before it
    CHECK(fails(message("/c_setn", {0, 2, 0.f})));
    CHECK(fails(message("/c_setn", {0, 1, std::string_view("x")})));
    CHECK(fails(message("/s_new", {std::string_view(""), 5, 1, 0})));
    CHECK(fails(message("/s_new", {std::string_view("x"), 5.f, 1, 0})));
    CHECK(fails(message("/b_kept", {1, 4, 1, std::string_view("x")}))); // not of a file
    CHECK(fails(message("/notify", {1, 2, 3})));
    CHECK(!read(Bytes(3)));
    CHECK(read(Bytes()).error() == "it is empty");
    CHECK(read(score_of({}, {}, {})));
}

TEST_CASE("a score that is cut or changed anywhere is refused or read") {
    const Bytes whole = score_of({std::make_shared<DefinitionSource>(DefinitionSource{"x", synthdef("x", "")})},
                                 {{3, 8, 2, 44100, nullptr, {}}}, some_tree());
    for (size_t end = 0; end < whole.size(); end += 7)
        (void)read(std::span(whole).first(end));
    std::mt19937 random(1);
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        Bytes changed = whole;
        for (int i = 0; i < 3; ++i)
            changed[random() % changed.size()] = std::byte(random());
        refused += !read(changed);
    }
    CHECK(refused > 100);
}

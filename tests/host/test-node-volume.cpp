// SPDX-License-Identifier: GPL-3.0-or-later
// Volume and mute as mixers set them.
#include "fixture.hpp"
#include "gain.hpp"

#include <doctest/doctest.h>
#include <spa/param/audio/raw.h>
#include <spa/param/format.h>
#include <spa/param/props.h>
#include <spa/pod/builder.h>
#include <spa/pod/iter.h>
#include <spa/pod/parser.h>

#include <algorithm>
#include <cerrno>
#include <cfloat>
#include <cmath>
#include <limits>
#include <optional>

using namespace scs::test;

namespace {

constexpr spa_direction out = SPA_DIRECTION_OUTPUT;
constexpr uint32_t ramp = 480; // frames: 10 ms
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

/// The fake engine's sample `frame` of output `port`.
float sine(uint32_t port, size_t frame) {
    return float(std::sin(2 * M_PI * 100 * (port + 1) * double(frame) / 48000));
}

struct Props {
    std::optional<float> volume;
    std::optional<bool> mute;
    std::vector<float> channels;
};

int set(HostNode& node, const Props& props, uint32_t flags = 0) {
    uint8_t memory[2048];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    spa_pod_frame frame;
    spa_pod_builder_push_object(&b, &frame, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props);
    if (props.volume)
        spa_pod_builder_add(&b, SPA_PROP_volume, SPA_POD_Float(*props.volume), 0);
    if (props.mute)
        spa_pod_builder_add(&b, SPA_PROP_mute, SPA_POD_Bool(*props.mute), 0);
    if (!props.channels.empty())
        spa_pod_builder_add(
            &b, SPA_PROP_channelVolumes,
            SPA_POD_Array(sizeof(float), SPA_TYPE_Float, uint32_t(props.channels.size()), props.channels.data()), 0);
    auto* pod = static_cast<spa_pod*>(spa_pod_builder_pop(&b, &frame));
    return spa_node_set_param(node.spa(), SPA_PARAM_Props, flags, pod);
}

/// Channel volumes as an array of another type.
int set_array(HostNode& node, uint32_t type, uint32_t size, uint32_t count) {
    const uint8_t zeros[64] = {};
    uint8_t memory[256];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    spa_pod_frame frame;
    spa_pod_builder_push_object(&b, &frame, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props);
    spa_pod_builder_prop(&b, SPA_PROP_channelVolumes, 0);
    spa_pod_builder_array(&b, size, type, count, zeros);
    auto* pod = static_cast<spa_pod*>(spa_pod_builder_pop(&b, &frame));
    return spa_node_set_param(node.spa(), SPA_PARAM_Props, 0, pod);
}

Props get(HostNode& node) {
    const auto params = node.params(SPA_PARAM_Props);
    REQUIRE(params.size() == 1);
    float volume = -1;
    bool mute = false;
    const spa_pod* array = nullptr;
    CHECK(spa_pod_parse_object(reinterpret_cast<const spa_pod*>(params[0].data()), SPA_TYPE_OBJECT_Props, nullptr,
                               SPA_PROP_volume, SPA_POD_Float(&volume), SPA_PROP_mute, SPA_POD_Bool(&mute),
                               SPA_PROP_channelVolumes, SPA_POD_Pod(&array)) == 3);
    std::vector<float> channels(256);
    channels.resize(spa_pod_copy_array(array, SPA_TYPE_Float, channels.data(), uint32_t(channels.size())));
    return {volume, mute, channels};
}

/// The channels' SPA names in a param's array; empty if there is no such param.
std::vector<uint32_t> names(HostNode& node, uint32_t param, uint32_t key) {
    const auto params = node.params(param);
    if (params.empty())
        return {};
    const auto* prop = spa_pod_find_prop(reinterpret_cast<const spa_pod*>(params[0].data()), nullptr, key);
    REQUIRE(prop);
    std::vector<uint32_t> found(256);
    found.resize(spa_pod_copy_array(&prop->value, SPA_TYPE_Id, found.data(), uint32_t(found.size())));
    return found;
}

/// A node that plays two outputs.
struct Played {
    FakeHost host;
    std::unique_ptr<HostNode> node;

    explicit Played(const Host::Dict& info = {}) : node(host.create(info)) {
        REQUIRE(node);
        node->link(out, 0);
        node->link(out, 1);
        node->start();
    }

    /// How many of the frames from `first` on aren't the sine times `gain`, to the bit.
    int differing(uint32_t port, float gain, size_t first) {
        const std::vector<float>& sound = node->output(port);
        CHECK(first < sound.size());
        int count = 0;
        for (size_t i = first; i < sound.size(); ++i)
            count += sound[i] != sine(port, i) * gain;
        return count;
    }
    /// The greatest step of the gain from one frame to the next. Not near the sine's zeros, where it can't be told.
    double steepest(uint32_t port) {
        double steepest = 0, last = 0;
        size_t seen = 0; // one more than the frame that `last` is of
        for (size_t i = 0; i < node->output(port).size(); ++i) {
            if (std::abs(sine(port, i)) < 0.1)
                continue;
            const double gain = node->output(port)[i] / sine(port, i);
            if (seen > 0)
                steepest = std::max(steepest, std::abs(gain - last) / double(i + 1 - seen));
            last = gain;
            seen = i + 1;
        }
        return steepest;
    }
};

} // namespace

TEST_CASE("at volume 1 no bit changes, before and after it was another") {
    Played p;
    p.host.cycles(10, 128);
    CHECK(set(*p.node, {.volume = 0.3f, .mute = true, .channels = {}}) == 0);
    p.host.cycles(10, 128);
    CHECK(set(*p.node, {.volume = 1.f, .mute = false, .channels = {}}) == 0);
    p.host.cycles(10, 128);
    for (const uint32_t port : {0u, 1u}) {
        CHECK(p.differing(port, 1, 20 * 128 + ramp) == 0);
        p.node->output(port).resize(10 * 128);
        CHECK(p.differing(port, 1, 0) == 0);
    }
}

TEST_CASE("another volume is reached in a straight line, at any quantum") {
    for (const uint32_t quantum : {1u, 16u, 100u, 480u, 1024u}) {
        CAPTURE(quantum);
        Played p;
        const int before = int(2000 / quantum) + 1;
        p.host.cycles(before, quantum);
        CHECK(set(*p.node, {.volume = 0.25f, .mute = {}, .channels = {}}) == 0);
        p.host.cycles(before, quantum);
        const size_t change = size_t(before) * quantum;
        CHECK(p.differing(0, 0.25f, change + ramp) == 0);
        CHECK(p.differing(1, 0.25f, change + ramp) == 0);
        CHECK(p.steepest(0) == doctest::Approx(0.75 / ramp).epsilon(0.01));
        CHECK(p.steepest(1) == doctest::Approx(0.75 / ramp).epsilon(0.01));
    }
}

TEST_CASE("a volume that changes on the way goes on from where it is") {
    Played p;
    p.host.cycles(10, 128);
    for (const float volume : {0.f, 1.f, 0.f, 0.5f, 0.f, 1.f}) {
        CHECK(set(*p.node, {.volume = volume, .mute = {}, .channels = {}}) == 0);
        p.host.cycle(128);
    }
    p.host.cycles(10, 128);
    CHECK(p.steepest(0) <= 1.01 / ramp);
    CHECK(p.differing(0, 1, 15 * 128 + ramp) == 0);
}

TEST_CASE("muted is silent, and keeps the volume") {
    Played p;
    p.host.cycles(10, 128);
    CHECK(set(*p.node, {.volume = 0.5f, .mute = true, .channels = {}}) == 0);
    CHECK(get(*p.node).channels == std::vector<float>{0.5f, 0.5f});
    CHECK(get(*p.node).mute == true);
    p.host.cycles(10, 128);
    CHECK(p.differing(0, 0, 10 * 128 + ramp) == 0);
    CHECK(set(*p.node, {.volume = {}, .mute = false, .channels = {}}) == 0);
    CHECK(get(*p.node).channels == std::vector<float>{0.5f, 0.5f});
    p.host.cycles(10, 128);
    CHECK(p.differing(0, 0.5f, 20 * 128 + ramp) == 0);
    CHECK(p.steepest(0) < 1.01 / ramp);
}

TEST_CASE("each channel has a volume of its own") {
    Played p;
    CHECK(set(*p.node, {.volume = 0.125f, .mute = {}, .channels = {0.5f, 2}}) == 0); // mixers know the latter alone
    CHECK(get(*p.node).volume == 1.f);
    CHECK(get(*p.node).channels == std::vector<float>{0.5f, 2});
    p.host.cycles(10, 128);
    CHECK(p.differing(0, 0.5f, ramp) == 0);
    CHECK(p.differing(1, 2, ramp) == 0);
    CHECK(names(*p.node, SPA_PARAM_Props, SPA_PROP_channelMap) ==
          std::vector<uint32_t>{SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR});
}

TEST_CASE("channel volumes of another number count as their mean") {
    Played p;
    CHECK(set(*p.node, {.volume = {}, .mute = {}, .channels = {0.5f}}) == 0);
    CHECK(get(*p.node).channels == std::vector<float>{0.5f, 0.5f});
    CHECK(set(*p.node, {.volume = {}, .mute = {}, .channels = {0, 0, 1}}) == 0);
    CHECK(get(*p.node).channels == std::vector<float>{1.f / 3, 1.f / 3});
    CHECK(set(*p.node, {.volume = {}, .mute = {}, .channels = std::vector<float>(300, 10)}) == 0);
    CHECK(get(*p.node).channels == std::vector<float>{10, 10});
}

TEST_CASE("what is no volume is refused, and changes nothing") {
    Played p;
    REQUIRE(set(*p.node, {.volume = 0.5f, .mute = true, .channels = {0.25f, 0.75f}}) == 0);
    const int infos = p.node->infos;
    const Props wrong[] = {
        {.volume = no_number, .mute = false, .channels = {}},       {.volume = -0.01f, .mute = false, .channels = {}},
        {.volume = 10.01f, .mute = false, .channels = {}},          {.volume = INFINITY, .mute = false, .channels = {}},
        {.volume = 1.f, .mute = false, .channels = {1, no_number}}, {.volume = 1.f, .mute = false, .channels = {1, -1}},
        {.volume = 1.f, .mute = false, .channels = {1, 1, 11}}};
    for (const Props& each : wrong)
        CHECK(set(*p.node, each) == -EINVAL);
    CHECK(set_array(*p.node, SPA_TYPE_Int, 4, 2) == -EINVAL);
    CHECK(set_array(*p.node, SPA_TYPE_Double, 8, 2) == -EINVAL);
    CHECK(set_array(*p.node, SPA_TYPE_Float, 8, 2) == -EINVAL); // floats of eight bytes
    CHECK(set_array(*p.node, SPA_TYPE_Float, 4, 0) == -EINVAL);
    CHECK(get(*p.node).mute == true);
    CHECK(get(*p.node).channels == std::vector<float>{0.25f, 0.75f});
    CHECK(p.node->infos == infos);
}

TEST_CASE("the host is told of changes, and only of these") {
    Played p;
    const int infos = p.node->infos;
    CHECK(set(*p.node, {.volume = 1.f, .mute = false, .channels = {1, 1}}) == 0);
    CHECK(p.node->infos == infos);
    CHECK(set(*p.node, {.volume = 0.f, .mute = {}, .channels = {}}, SPA_NODE_PARAM_FLAG_TEST_ONLY) == 0);
    CHECK(p.node->infos == infos);
    CHECK(get(*p.node).channels == std::vector<float>{1, 1});
    CHECK(set(*p.node, {.volume = 0.f, .mute = {}, .channels = {}}) == 0);
    CHECK(p.node->infos == infos + 1);
    CHECK(p.node->params(SPA_PARAM_PropInfo).size() == 4);
}

TEST_CASE("volume and mute of the settings hold from the first sample on") {
    Played half(Host::Dict{{"scsynth.volume", "0.5"}});
    CHECK(get(*half.node).channels == std::vector<float>{0.5f, 0.5f});
    half.host.cycles(4, 64);
    CHECK(half.differing(0, 0.5f, 0) == 0);
    // What a session manager remembers must not replace it.
    CHECK(half.node->properties["state.restore-props"] == "false");

    Played muted(Host::Dict{{"scsynth.mute", "true"}});
    CHECK(get(*muted.node).mute == true);
    muted.host.cycles(4, 64);
    CHECK(muted.differing(1, 0, 0) == 0);
    CHECK(set(*muted.node, {.volume = {}, .mute = false, .channels = {}}) == 0);
    muted.host.cycles(20, 64);
    CHECK(muted.differing(1, 1, 4 * 64 + ramp) == 0);
    // Without params: as made.
    CHECK(spa_node_set_param(muted.node->spa(), SPA_PARAM_Props, 0, nullptr) == 0);
    CHECK(get(*muted.node).mute == true);

    Played plain;
    CHECK(plain.node->properties.count("state.restore-props") == 0);
}

TEST_CASE("no volume lets through more than the limit, nor makes it infinite") {
    Played p(Host::Dict{{"scsynth.output-limit", "1.5"}});
    CHECK(set(*p.node, {.volume = 10.f, .mute = {}, .channels = {}}) == 0);
    p.host.cycles(10, 128);
    const auto [lowest, highest] = std::minmax_element(p.node->output(0).begin(), p.node->output(0).end());
    CHECK(*lowest == -1.5f);
    CHECK(*highest == 1.5f);

    scs::spa::Gain gain;
    std::vector<float> loud(2 * ramp, FLT_MAX);
    gain.set(10);
    gain.apply(loud.data(), uint32_t(loud.size()), 48000);
    CHECK(loud == std::vector<float>(loud.size(), FLT_MAX));
}

TEST_CASE("a port that was not linked while the volume changed has it at once") {
    Played p;
    p.node->unlink(out, 0);
    p.host.cycles(4, 64);
    CHECK(set(*p.node, {.volume = 0.5f, .mute = {}, .channels = {}}) == 0);
    p.host.cycle(64);
    p.node->link(out, 0);
    p.node->output(0).clear();
    p.host.cycle(64);
    REQUIRE(p.node->output(0).size() == 64);
    for (size_t i = 0; i < 64; ++i)
        CHECK(p.node->output(0)[i] == sine(0, 5 * 64 + i) * 0.5f);
}

TEST_CASE("mixers are shown the channels of the layout") {
    FakeHost host;
    auto node = host.create({{"scsynth.outputs", "3"}, {"scsynth.layout", "quad"}});
    REQUIRE(node);
    const std::vector<uint32_t> channels{SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR, SPA_AUDIO_CHANNEL_RL};
    CHECK(names(*node, SPA_PARAM_Format, SPA_FORMAT_AUDIO_position) == channels);
    CHECK(names(*node, SPA_PARAM_Props, SPA_PROP_channelMap) == channels);
}

TEST_CASE("mixers are shown what they have room for") {
    FakeHost host;
    for (const uint32_t outputs : {0u, 1u, 2u, 64u, 65u, 128u}) {
        CAPTURE(outputs);
        auto node = host.create({{"scsynth.outputs", std::to_string(outputs)}, {"scsynth.osc.port", "0"}});
        REQUIRE(node);
        const bool listed = outputs >= 1 && outputs <= 64;
        CHECK(node->properties.count("media.class") == size_t(listed));
        const auto channels = names(*node, SPA_PARAM_Format, SPA_FORMAT_AUDIO_position);
        CHECK(channels.size() == (listed ? outputs : 0));
        CHECK(names(*node, SPA_PARAM_Props, SPA_PROP_channelMap).size() == outputs);
        CHECK(get(*node).channels == std::vector<float>(outputs, 1));
        if (listed)
            CHECK(channels[0] == (outputs == 1 ? SPA_AUDIO_CHANNEL_MONO : SPA_AUDIO_CHANNEL_FL));
        if (outputs == 64)
            CHECK(channels[63] == SPA_AUDIO_CHANNEL_AUX63);
        CHECK(set(*node, {.volume = 0.5f, .mute = {}, .channels = {}}) == 0);
        CHECK(get(*node).channels == std::vector<float>(outputs, 0.5f));
        // By these WirePlumber would link it itself.
        int error = 0;
        CHECK(node->params(SPA_PARAM_EnumFormat, &error).empty());
        CHECK(error == -ENOENT);
    }
}

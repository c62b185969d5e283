// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers with fewer frames than interpolation takes. SuperCollider's units read beside them.
#include "test-support.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

/// A block of a unit that reads buffer 1, of these samples, between others that it must not hear.
std::vector<float> read(const char* name, std::vector<float> samples, const std::vector<float>& inputs) {
    Fixture f;
    const auto frames = int32_t(samples.size());
    constexpr float beside = 1e6f;
    samples.insert(samples.begin(), 8, beside);
    samples.insert(samples.end(), 8, beside);
    f.engine->buffers().install(1, {samples.data() + 8, frames, 1, 48000., nullptr});
    SynthDef def;
    def.name = "reads";
    def.constants = {1.f, 0.f};
    std::vector<InputRef> refs = {{-1, 0}};
    for (const float input : inputs) {
        refs.push_back({-1, uint32_t(def.constants.size())});
        def.constants.push_back(input);
    }
    def.units.push_back(unit("DC", Rate::audio, {refs[1]}, {Rate::audio}));
    if (std::string(name) == "BufRd")
        refs[1] = {0, 0}; // the phase
    def.units.push_back(unit(name, Rate::audio, refs, {Rate::audio}));
    def.units.push_back(unit("Out", Rate::audio, {{-1, 1}, {1, 0}}, {}));
    f.play(*f.define(def), 1);
    const std::vector<float> heard = f.render(64);
    f.engine->buffers().install(1, {});
    return heard;
}

} // namespace

TEST_CASE("a buffer of one frame is that frame's value everywhere") {
    for (const float loop : {0.f, 1.f})
        for (const float place : {0.f, 0.3f, 0.75f, 5.f, -2.5f}) {
            CAPTURE(place);
            CAPTURE(loop);
            for (const float interpolation : {1.f, 2.f, 4.f})
                for (const float heard : read("BufRd", {0.25f}, {place, loop, interpolation}))
                    CHECK(heard == 0.25f);
            for (const float heard : read("PlayBuf", {0.25f}, {0.37f, 1, place, loop, 0}))
                CHECK(heard == 0.25f);
        }
}

TEST_CASE("interpolation in two and three frames goes round in a loop, and stays at the ends otherwise") {
    const auto hermite = [](float part, float a, float b, float c, float d) {
        const float c1 = 0.5f * (c - a), c2 = a - 2.5f * b + 2 * c - 0.5f * d, c3 = 0.5f * (d - a) + 1.5f * (b - c);
        return ((c3 * part + c2) * part + c1) * part + b;
    };
    for (const std::vector<float>& samples :
         {std::vector<float>{0.5f, -0.25f}, std::vector<float>{0.5f, -0.25f, 0.75f}})
        for (const bool loop : {false, true})
            for (float place = 0; place < float(samples.size()) - (loop ? 0 : 1); place += 0.25f) {
                CAPTURE(place);
                CAPTURE(loop);
                const int count = int(samples.size());
                const auto at = [&](int frame) {
                    return samples[size_t(loop ? (frame + count) % count : std::clamp(frame, 0, count - 1))];
                };
                const int i = int(place);
                const float part = place - float(i);
                const float cubic = hermite(part, at(i - 1), at(i), at(i + 1), at(i + 2));
                const float straight = at(i) + part * (at(i + 1) - at(i));
                CHECK(std::abs(read("BufRd", samples, {place, float(loop), 4})[10] - cubic) < 1e-6f);
                CHECK(std::abs(read("BufRd", samples, {place, float(loop), 2})[10] - straight) < 1e-6f);
                CHECK(std::abs(read("PlayBuf", samples, {0, 1, place, float(loop), 0})[10] - cubic) < 1e-6f);
            }
}

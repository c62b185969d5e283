// SPDX-License-Identifier: GPL-3.0-or-later
// FFT units whose buffer is freed or replaced while they play.
#include "engine/base/aligned-array.hpp"
#include "engine/base/settings.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace scs;
using namespace scs::test;

namespace {

constexpr int points = 512;

/// Noise to a spectrum in a buffer, and back to output 0.
SynthDef forth_and_back(float buffer) {
    SynthDef def;
    def.name = "spectrum";
    def.constants = {buffer, 0.f, 0.5f, 1.f};
    def.units = {
        unit("WhiteNoise", Rate::audio, {}, {Rate::audio}),
        unit("FFT", Rate::control, {{-1, 0}, {0, 0}, {-1, 2}, {-1, 1}, {-1, 3}, {-1, 1}}, {Rate::control}),
        unit("IFFT", Rate::audio, {{1, 0}, {-1, 1}, {-1, 1}}, {Rate::audio}),
        unit("Out", Rate::audio, {{-1, 1}, {2, 0}}, {}),
    };
    return def;
}

bool all_are(const float* samples, float value) {
    return std::all_of(samples, samples + points, [&](float sample) { return sample == value; });
}

} // namespace

TEST_CASE("an FFT neither writes nor reads what its buffer was before it was freed or replaced") {
    for (const int number : {0, 3, most_buffers - 1})
        for (const bool replaced : {true, false}) {
            Settings settings;
            settings.buffers = most_buffers;
            Fixture f(settings);
            const auto first = aligned_zeros<float>(points), second = aligned_zeros<float>(points);
            Buffers& buffers = f.engine->buffers();
            const auto install = [&](float* data) { buffers.install(number, {data, points, 1, 48000.}); };
            install(first.get());
            f.play(*f.define(forth_and_back(float(number))), 1);
            const auto sound = f.render(8 * points);
            CHECK(*std::max_element(sound.begin() + 2 * points, sound.end()) > 0.1f);
            CHECK_FALSE(all_are(first.get(), 0.f));

            replaced ? install(second.get()) : buffers.install(number, {});
            std::fill_n(first.get(), points, 1.f);
            f.render(2 * points); // what is left in the IFFT
            const auto after = f.render(8 * points);
            CHECK(all_are(first.get(), 1.f));
            CHECK(all_are(second.get(), 0.f));
            CHECK(all_are(after.data(), 0.f));
            buffers.install(number, {});
        }
}

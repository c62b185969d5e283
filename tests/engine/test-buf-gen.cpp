// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buf-gen.hpp"

#include "engine/world/buffers-abi.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <span>
#include <vector>

using namespace scs;
using namespace scs::test;

TEST_CASE("spectra for a convolution are only written into a buffer that holds them") {
    Fixture f;
    std::vector<float> kernel(1000, 1.f), spectra(2048, 7.f);
    auto& latest = f.engine->buffers().abi().latest;
    const auto lend = [&](int index, std::vector<float>& samples, int frames) {
        latest[size_t(index)].data = samples.data();
        latest[size_t(index)].channels = 1;
        latest[size_t(index)].frames = latest[size_t(index)].samples = frames;
    };
    alignas(4) const unsigned char arguments[] = {',', 'i', 'i', 0, 0, 0, 0, 1, 0, 0, 1, 0}; // buffer 1, 256 points
    lend(1, kernel, 1000);
    for (const int room : {64, 2047, 2048}) {
        CAPTURE(room);
        lend(2, spectra, room);
        float* replaced;
        const auto outcome =
            run_buf_gen(f.engine->world(), 2, "PreparePartConv", std::as_bytes(std::span(arguments)), replaced);
        CHECK(outcome == (room < 2048 ? BufGenOutcome::does_not_fit : BufGenOutcome::done));
        const bool untouched = std::all_of(spectra.begin(), spectra.end(), [](float sample) { return sample == 7.f; });
        CHECK(untouched == (room < 2048));
    }
    CHECK(f.printed.empty());
    latest[1].data = latest[2].data = nullptr; // not the engine's to free
}

TEST_CASE("a wavetable, which is made of pairs, is only made in an even number of samples") {
    Fixture f;
    auto& latest = f.engine->buffers().abi().latest;
    for (const char* name : {"cheby", "sine1", "sine2", "sine3"})
        for (const int samples : {7, 8})
            for (const unsigned char flags : {5, 7}) { // without and with a wavetable
                CAPTURE(name);
                CAPTURE(samples);
                std::vector<float> data(8, 7.f);
                latest[1].data = data.data();
                latest[1].channels = 1;
                latest[1].frames = latest[1].samples = samples;
                alignas(4)
                    const unsigned char arguments[] = {',',  'i',  'f', 'f', 'f',  0,    0, 0, 0,    0,    0, flags,
                                                       0x3f, 0x80, 0,   0,   0x3f, 0x80, 0, 0, 0x3f, 0x80, 0, 0};
                float* replaced;
                const auto outcome =
                    run_buf_gen(f.engine->world(), 1, name, std::as_bytes(std::span(arguments)), replaced);
                const bool refused = samples == 7 && flags == 7;
                CHECK(outcome == (refused ? BufGenOutcome::odd_length : BufGenOutcome::done));
                CHECK((data[0] == 7.f) == refused);
            }
    latest[1].data = nullptr; // not the engine's to free
}

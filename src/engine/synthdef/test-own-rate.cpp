// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/own-rate.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace scs;

namespace {

GrantedRate granted(OwnRate own, std::vector<float> controls = {}, int block = 64) {
    return granted_rate(own, controls, block);
}

} // namespace

TEST_CASE("powers of two are granted, and 0 is the server's") {
    for (int frames = 1; frames <= 64; frames *= 2)
        for (int factor = 1; factor <= 16; factor *= 2) {
            const GrantedRate got = granted({frames, -1, float(factor), -1});
            CHECK(got.rate == SynthRate{frames, factor});
            CHECK(!got.is_wrong());
        }
    CHECK(granted({}).rate == SynthRate{64, 1});
    CHECK(granted({0, -1, 4.f, -1}).rate == SynthRate{64, 4});
    CHECK(!granted({}).is_wrong());
}

TEST_CASE("a block takes no longer than the server's") {
    CHECK(granted({256, -1, 4.f, -1}).rate == SynthRate{256, 4});
    CHECK(!granted({256, -1, 4.f, -1}).is_wrong());
    CHECK(granted({512, -1, 4.f, -1}).rate == SynthRate{256, 4});
    CHECK(granted({512, -1, 4.f, -1}).wrong_frames);
    CHECK(granted({128, -1, 0.f, -1}).rate == SynthRate{64, 1});
    CHECK(granted({1 << 30, -1, 2.f, -1}).rate == SynthRate{128, 2});
    CHECK(granted({std::numeric_limits<int32_t>::max(), -1, 2.f, -1}).rate == SynthRate{64, 2});
}

TEST_CASE("what is no power of two falls back, each for itself") {
    for (float wrong : {-1.f, 0.5f, 0.9f, 3.f, 7.f, 32.f, 1e30f, std::nanf(""), HUGE_VALF}) {
        CAPTURE(wrong);
        const GrantedRate got = granted({8, -1, -1.f, 0}, {wrong});
        CHECK(got.rate == SynthRate{8, 1});
        CHECK(got.wrong_factor);
        CHECK(!got.wrong_frames);
    }
    for (float wrong : {-1.f, 0.5f, 3.f, 7.f, 1e30f, std::nanf(""), HUGE_VALF}) {
        CAPTURE(wrong);
        const GrantedRate got = granted({-1, 1, 2.f, -1}, {0.f, wrong});
        CHECK(got.rate == SynthRate{64, 2});
        CHECK(got.wrong_frames);
        CHECK(!got.wrong_factor);
    }
}

TEST_CASE("controls say what a synth has") {
    const OwnRate own{-1, 0, -1.f, 1};
    CHECK(granted(own, {0.f, 0.f}).rate == SynthRate{64, 1});
    CHECK(granted(own, {4.f, 2.f}).rate == SynthRate{4, 2});
    CHECK(granted(own, {1024.f, 16.f}).rate == SynthRate{1024, 16});
}

TEST_CASE("a server whose block is no power of two has its own alone") {
    CHECK(granted({0, -1, 0.f, -1}, {}, 100).rate == SynthRate{100, 1});
    CHECK(!granted({100, -1, 1.f, -1}, {}, 100).is_wrong());
    CHECK(granted({4, -1, 2.f, -1}, {}, 100).rate == SynthRate{100, 1});
    CHECK(granted({4, -1, 0.f, -1}, {}, 100).wrong_frames);
    CHECK(granted({0, -1, 2.f, -1}, {}, 100).wrong_factor);
}

TEST_CASE("no synth has more frames than its definition says it may have") {
    for (int block : {1, 16, 64, 1024})
        for (int asked : {-1, 0, 1, 64, 100, 512, 4096, 1 << 20})
            for (float factor : {-1.f, 0.f, 1.f, 2.f, 16.f})
                for (float control : {0.f, 1.f, 3.f, 16.f, 256.f, 16384.f, 1e9f}) {
                    const OwnRate own{asked, 0, factor, 1};
                    const GrantedRate got = granted(own, {control, control}, block);
                    CHECK(got.rate.frames <= most_frames(own, block));
                    CHECK(got.rate.frames >= 1);
                    CHECK(block * got.rate.factor % got.rate.frames == 0);
                }
}

TEST_CASE("what constants say is known before, if it is right") {
    CHECK(constant_rate({0, -1, 2.f, -1}, 64) == SynthRate{64, 2});
    CHECK(constant_rate({16, -1, 0.f, -1}, 64) == SynthRate{16, 1});
    for (const OwnRate& own : {OwnRate{}, OwnRate{-1, 0, 2.f, -1}, OwnRate{64, -1, -1.f, 0}, OwnRate{0, -1, 3.f, -1},
                               OwnRate{128, -1, 1.f, -1}, OwnRate{0, -1, std::nanf(""), -1}})
        CHECK(!constant_rate(own, 64));
}

TEST_CASE("ticks fill each block of the server, and are numbered from one to the next") {
    for (int block : {1, 64, 1024})
        for (int factor = 1; factor <= 16; factor *= 2)
            for (int frames = 1; frames <= block * factor; frames *= 4)
                for (bool hears : {false, true}) {
                    Ticks ticks = ticks_of({frames, factor}, block, hears);
                    ticks.begin(-1, false); // the block number wraps around
                    CHECK(ticks.current == -ticks.ahead);
                    CHECK(ticks.frames_ahead() >= (hears ? 0 : ticks.delay()));
                    uint32_t number = ticks.number;
                    while (ticks.current < 0) {
                        CHECK(ticks.go_on());
                        CHECK(ticks.number == ++number);
                    }
                    for (int32_t number_of_block : {-1, 0, 1}) {
                        ticks.begin(number_of_block, true);
                        int32_t place = 0, count = 0;
                        do {
                            CHECK(ticks.place() == place);
                            CHECK(ticks.number == number++);
                            place += ticks.places();
                            ++count;
                        } while (ticks.go_on());
                        CHECK(place == block);
                        CHECK(count == ticks.count);
                    }
                }
}

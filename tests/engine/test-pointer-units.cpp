// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

constexpr double block_seconds = 64 / 48000.;

struct Playing : Fixture {
    Playing(const char* name, const std::vector<float>& inputs, const Pointer& at = {}, Settings settings = {})
        : Fixture(settings) {
        engine->world().pointer() = at;
        synth = &play(*define(unit_def(name, inputs)), 1);
    }
    float next(int blocks = 1) {
        render(64 * blocks);
        return *engine->buses().control();
    }
    void move(const Pointer& at) { engine->world().pointer() = at; }
    Synth* synth;
};

float first(const char* name, const std::vector<float>& inputs, const Pointer& at) {
    return Playing(name, inputs, at).next();
}

} // namespace

TEST_CASE("the log says once what makes the pointer known") {
    const std::string hint = "the mouse is known while `pw-scsynth pointer` runs; pw-scsynth runs that for the server "
                             "that it has started, unless that has --no-pointer or a password\n";
    Playing keys("KeyState", {0, 0, 1, 0.2f});
    keys.next();
    CHECK(keys.printed == "KeyState follows the keyboard while `pw-scsynth pointer --keys` runs\n");
    Playing mouse("MouseX", {0, 1, 0, 0.2f});
    mouse.play(*mouse.define(unit_def("MouseY", {0, 1, 0, 0.2f})), 2);
    mouse.next();
    CHECK(mouse.printed == hint);
    Playing told("MouseButton", {0, 1, 0.2f}, {.told = true});
    told.next();
    CHECK(told.printed == "");
}

TEST_CASE("MouseX and MouseY give a linear range where warp is 0, else an exponential one") {
    for (const char* name : {"MouseX", "MouseY"})
        for (const float place : {0.f, 0.25f, 0.5f, 1.f}) {
            CAPTURE(name);
            CAPTURE(place);
            const Pointer at =
                std::string(name) == "MouseX" ? Pointer{.x = place, .y = 0.1f} : Pointer{.x = 0.1f, .y = place};
            CHECK(first(name, {200, 800, 0, 0}, at) == doctest::Approx(200 + 600 * place));
            CHECK(first(name, {800, 200, 0, 0.2f}, at) == doctest::Approx(800 - 600 * place));
            CHECK(first(name, {200, 800, 1, 0}, at) == doctest::Approx(200 * std::pow(4., place)));
            CHECK(first(name, {200, 800, 0.5f, 0}, at) == doctest::Approx(200 * std::pow(4., place)));
        }
    CHECK(first("MouseX", {0, 0, 1, 0}, {0.5f, 0, false}) != 0.f); // NaN, as in scsynth
}

TEST_CASE("MouseButton gives its second input while the button is down") {
    CHECK(first("MouseButton", {3, 7, 0}, {0, 0, false}) == 3.f);
    CHECK(first("MouseButton", {3, 7, 0}, {0, 0, true}) == 7.f);
}

TEST_CASE("KeyState gives its third input while the key is down") {
    Pointer at;
    at.keys[38 / 8] = 1 << 38 % 8;
    CHECK(first("KeyState", {38, 3, 7, 0}, at) == 7.f);
    for (const float other : {37.f, 46.f, -1.f, 256.f + 38, 1e30f, -1e30f})
        CHECK(first("KeyState", {other, 3, 7, 0}, at) == 3.f);
}

TEST_CASE("without a pointer they give their minimum, and no key is down") {
    CHECK(first("MouseX", {200, 800, 1, 0.2f}, {}) == 200.f);
    CHECK(first("MouseY", {200, 800, 0, 0.2f}, {}) == 200.f);
    CHECK(first("MouseButton", {3, 7, 0.2f}, {}) == 3.f);
    CHECK(first("KeyState", {38, 3, 7, 0.2f}, {1, 1, true}) == 3.f);
}

TEST_CASE("a lag is the time in which the distance shrinks to a thousandth") {
    for (const float lag : {0.05f, 0.2f, -1.f}) {
        CAPTURE(lag);
        Playing f("MouseX", {0, 1, 0, lag}, {0.5f, 0, false});
        CHECK(f.next(3) == 0.5f);
        f.move({1.f, 0, false});
        const double factor = std::exp(std::log(0.001) / double(lag) * block_seconds);
        for (int block = 1; block < 20; ++block)
            CHECK(f.next() == doctest::Approx(1 - 0.5 * std::pow(factor, block)).epsilon(1e-5));
    }
}

TEST_CASE("a lag that changes counts from the next block on, one of 0 at once follows") {
    Playing f("MouseButton", {0, 1, 0});
    CHECK(f.next(2) == 0.f);
    f.move({0, 0, true});
    CHECK(f.next() == 1.f);
    f.engine->tree().controls().set(*f.synth, 2, 0.1f);
    f.move({});
    CHECK(f.next() == 0.f); // still without
    f.move({0, 0, true});
    CHECK(f.next() == doctest::Approx(1 - std::exp(std::log(0.001) / 0.1 * block_seconds)));
}

TEST_CASE("what has blown up begins anew") {
    Playing f("MouseX", {0, 1, 0, -0.001f}, {0.5f, 0, false});
    CHECK(f.next() == 0.5f);
    f.move({1.f, 0, false});
    for (int block = 0; block < 20; ++block)
        CHECK(std::abs(f.next()) < 1e20f);
}

TEST_CASE("they follow the pointer with blocks of any size, and beside helper threads") {
    for (const int block : {1, 16, 64}) {
        Settings settings;
        settings.block_size = block;
        settings.threads = block == 64 ? 2 : 1;
        Playing f("MouseY", {0, 1, 0, 0}, {}, settings);
        CHECK(f.next() == 0.f);
        f.move({0, 0.75f, false});
        CHECK(f.next() == 0.75f);
    }
}

TEST_CASE("at audio rate they hold for the block") {
    Fixture f;
    SynthDef def;
    def.name = "audio";
    def.constants = {0.f, 1.f};
    def.units = {unit("MouseX", Rate::audio, {{-1, 0}, {-1, 1}, {-1, 0}, {-1, 0}}, {Rate::audio}),
                 unit("Out", Rate::audio, {{-1, 0}, {0, 0}}, {})};
    f.engine->world().pointer() = {0.5f, 0, false};
    f.play(*f.define(def), 1);
    CHECK(f.render(128) == std::vector<float>(128, 0.5f));
}

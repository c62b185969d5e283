// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/test-support.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

namespace scs::test {
namespace {

volatile float* volatile nowhere = nullptr;
std::atomic<bool> endless{false};

void calm(::Unit*, int) {}

void read_nowhere(::Unit* unit, int) {
    unit->mWorld->mSndBufs[0].lock.lock();
    unit->mOutBuf[0][0] = *nowhere;
}

// Any computation that never ends would do.
void go_on_for_ever(::Unit* unit, int) {
    endless = true;
    for (volatile float* out = unit->mOutBuf[0];;)
        out[0] = out[0] + 1.f;
}

[[gnu::noinline]] int sink_deeper(volatile int* depth) {
    volatile char room[1024];
    room[0] = char(*depth);
    return *depth < 0 ? 0 : sink_deeper(depth) + room[0];
}

void overflow_stack(::Unit* unit, int) {
    volatile int depth = 1;
    unit->mOutBuf[0][0] = float(sink_deeper(&depth));
}

template <UnitCalcFunc calc>
void construct(::Unit* unit) {
    unit->mCalcFunc = calc;
}

void construct_badly(::Unit* unit) {
    unit->mCalcFunc = calm;
    volatile int zero = 0;
#if defined(__x86_64__)
    asm volatile("idivl %0" : : "r"(zero), "a"(1), "d"(0));
#else
    *nowhere = zero;
#endif
}

void define_test_units() {
    PluginRegistry& registry = PluginRegistry::instance();
    registry.define_unit("TestReadNowhere", sizeof(::Unit), construct<read_nowhere>, nullptr, 0);
    registry.define_unit("TestEndless", sizeof(::Unit), construct<go_on_for_ever>, nullptr, 0);
    registry.define_unit("TestOverflow", sizeof(::Unit), construct<overflow_stack>, nullptr, 0);
    registry.define_unit("TestBadStart", sizeof(::Unit), construct_badly, nullptr, 0);
}

SynthDef def_with(const char* ugen) {
    SynthDef def;
    def.name = ugen;
    def.units = {unit(ugen, Rate::control, {}, {Rate::control})};
    return def;
}

/// A sine that runs while `ugen` crashes.
struct CrashFixture : Fixture {
    CrashFixture() { define_test_units(); }

    void start(const char* ugen) {
        Synth* synth;
        if (Synth* old = engine->tree().find_synth(1000))
            engine->tree().free(*old);
        REQUIRE(engine->tree().new_synth(*define(def_with(ugen)), nullptr, 1001, AddAction::head, 0, synth).ok());
        REQUIRE(engine->tree().new_synth(*define(sine_def()), nullptr, 1000, AddAction::tail, 0, synth).ok());
    }
    bool sine_plays() {
        float peak = 0;
        for (const float sample : render(1024))
            peak = std::max(peak, std::abs(sample));
        return peak > 0.4f && engine->tree().find_synth(1000) && !engine->tree().find_synth(1001);
    }
};

} // namespace

TEST_CASE("a UGen that reads where nothing is loses its synth, and the others play on") {
    CrashFixture f;
    f.start("TestReadNowhere");
    CHECK(f.sine_plays());
    CHECK(f.printed == "UGen 'TestReadNowhere' of synth 1001 (TestReadNowhere) crashed; the synth is freed\n");
    SUBCASE("the locks that it held are open again") {
        f.start("TestReadNowhere"); // takes the same lock: would hang
        CHECK(f.sine_plays());
    }
}

TEST_CASE("a UGen that uses up the stack loses its synth") {
    CrashFixture f;
    f.start("TestOverflow");
    CHECK(f.sine_plays());
}

TEST_CASE("a UGen that crashes while it is made loses its synth") {
    CrashFixture f;
    f.start("TestBadStart");
    CHECK(f.sine_plays());
    CHECK(f.printed.find("'TestBadStart'") != std::string::npos);
}

TEST_CASE("an engine whose own code crashes is silent, and another one plays on") {
    CrashFixture broken, well;
    broken.start("TestReadNowhere");
    well.start("TestReadNowhere");
    CHECK(broken.sine_plays());
    const auto crash = [](Engine&) { CHECK(*nowhere == 0.f); };
    REQUIRE(broken.engine->submit(bundle_of(crash)));
    SUBCASE("in a cycle") {}
    SUBCASE("between cycles") {
        CHECK_FALSE(broken.engine->run_idle());
        CHECK(broken.engine->status().broken);
    }
    for (const float sample : broken.render(256))
        CHECK(sample == 0.f);
    CHECK(broken.engine->status().broken);
    CHECK_FALSE(broken.engine->run_idle());
    broken.engine.reset();
    CHECK(well.sine_plays());
    CHECK_FALSE(well.engine->status().broken);
}

TEST_CASE("host code that crashes under a plugin ends what is around the plugin") {
    FaultGuard::install();
    bool after = false;
    const auto call_host = [] {
        const FaultGuard::HostCode host;
        (void)*nowhere;
    };
    CHECK_FALSE(FaultGuard::run_host([&] {
        (void)FaultGuard::run(call_host);
        after = true;
    }));
    CHECK_FALSE(after);
    CHECK(FaultGuard::run_host([&] { (void)FaultGuard::run([] { (void)*nowhere; }); }));
}

#if !defined(__SANITIZE_THREAD__) // it delivers this signal only when the loop ends
TEST_CASE("a UGen that never ends is ended") {
    CrashFixture f;
    std::atomic<bool> done{false};
    std::thread watch([&] {
        while (!done) {
            f.engine->end_endless_code();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    f.start("TestEndless");
    CHECK(f.sine_plays());
    CHECK(endless);
    done = true;
    watch.join();
}

TEST_CASE("an interrupt ends host code only if it is meant for all") {
    FaultGuard::install();
    for (const auto reach : {FaultGuard::Reach::plugins, FaultGuard::Reach::all}) {
        int interrupts = 0;
        const bool ended = !FaultGuard::run_host([&] {
            (void)FaultGuard::run([&] {
                const FaultGuard::HostCode host;
                FaultGuard::interrupt(pthread_self(), reach);
                ++interrupts;
            });
        });
        CHECK(ended == (reach == FaultGuard::Reach::all));
        CHECK(interrupts == (ended ? 0 : 1));
    }
}
#endif

} // namespace scs::test

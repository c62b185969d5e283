// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "test-support.hpp"

#undef NDEBUG // its assertions fail in all builds
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <exception>
#include <mutex>
#include <stop_token>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace scs::test {
namespace {

volatile float* volatile nowhere = nullptr;

void calm(::Unit*, int) {}

void read_nowhere(::Unit* unit, int) {
    unit->mOutBuf[0][0] = *nowhere;
}

// Any computation that never ends would do.
void go_on_for_ever(::Unit* unit, int) {
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

void abort_now(::Unit*, int) {
    std::abort();
}

void fail_assertion(::Unit*, int) {
    __assert_fail("1 == 2", "file", 1, "function");
}

/// A loop's bound that the compiler doesn't know.
volatile int beyond = 32;

void smash_stack(::Unit*, int) {
    volatile char room[16];
    volatile char* at = room;
    asm("" : "+r"(at)); // or the compiler would leave out what lies after the array
    for (int i = 0; i < beyond; ++i)
        at[i] = 1;
}

/// As with -D_FORTIFY_SOURCE.
void overrun(::Unit* unit, int) {
    char room[64];
    __builtin___memset_chk(room, unit->mNumInputs, size_t(beyond), 16);
    asm volatile("" : : "r"(room) : "memory");
}

void terminate_now(::Unit*, int) {
    std::terminate();
}

void throw_now(::Unit*, int) {
    throw 1;
}

void throw_through_noexcept(::Unit* unit, int) noexcept {
    throw_now(unit, 1);
}

/// Uses up processor time of this thread.
void compute(int milliseconds) {
    const auto used = [] {
        timespec now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
    };
    for (const auto end = used() + milliseconds; used() < end;) {
    }
}

void compute_for_a_while(::Unit*, int) {
    compute(15);
}

void call_for_ever(::Unit* unit, int) {
    for (volatile bool more = true; more;)
        unit->mWorld->ft->fRTFree(unit->mWorld, unit->mWorld->ft->fRTAlloc(unit->mWorld, 100));
}

void wait_for_ever(::Unit*, int) {
    for (volatile bool more = true; more;)
        pause();
}

void wait_for_itself(::Unit*, int) {
    std::mutex mutex;
    mutex.lock();
    mutex.lock();
}

void wait_for_a_while(::Unit*, int) {
    const timespec while_{0, 20'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &while_, nullptr);
}

template <UnitCalcFunc calc>
void calc_at_start(::Unit* unit) {
    unit->mCalcFunc = calm;
    calc(unit, 1);
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
    registry.define_unit("TestAbort", sizeof(::Unit), construct<abort_now>, nullptr, 0);
    registry.define_unit("TestAssertion", sizeof(::Unit), construct<fail_assertion>, nullptr, 0);
    registry.define_unit("TestSmashed", sizeof(::Unit), construct<smash_stack>, nullptr, 0);
    registry.define_unit("TestOverrun", sizeof(::Unit), construct<overrun>, nullptr, 0);
    registry.define_unit("TestTerminate", sizeof(::Unit), construct<terminate_now>, nullptr, 0);
    registry.define_unit("TestNoexcept", sizeof(::Unit), construct<throw_through_noexcept>, nullptr, 0);
    registry.define_unit("TestThrow", sizeof(::Unit), construct<throw_now>, nullptr, 0);
    registry.define_unit("TestAbortAtStart", sizeof(::Unit), calc_at_start<abort_now>, nullptr, 0);
    registry.define_unit("TestEndlessStart", sizeof(::Unit), calc_at_start<go_on_for_ever>, nullptr, 0);
    registry.define_unit("TestEndlessCalls", sizeof(::Unit), construct<call_for_ever>, nullptr, 0);
    registry.define_unit("TestWaits", sizeof(::Unit), construct<wait_for_ever>, nullptr, 0);
    registry.define_unit("TestWaitsStart", sizeof(::Unit), calc_at_start<wait_for_ever>, nullptr, 0);
    registry.define_unit("TestDeadlock", sizeof(::Unit), construct<wait_for_itself>, nullptr, 0);
    registry.define_unit("TestWaitsShortly", sizeof(::Unit), construct<wait_for_a_while>, nullptr, 0);
    registry.define_unit("TestSlow", sizeof(::Unit), construct<compute_for_a_while>, nullptr, 0);
    registry.define_unit("TestBadStart", sizeof(::Unit), construct_badly, nullptr, 0);
    registry.define_unit("TestBadEnd", sizeof(::Unit), construct<calm>, construct_badly, 0);
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

void stop_for_debugger() {
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("int3");
#else
    __asm__ volatile("brk #0");
#endif
}

} // namespace

TEST_CASE("a UGen that reads where nothing is loses its synth, and the others play on") {
    CrashFixture f;
    f.start("TestReadNowhere");
    CHECK(f.sine_plays());
    CHECK(f.printed == "UGen 'TestReadNowhere' of synth 1001 (TestReadNowhere) crashed; the synth is freed");
    SUBCASE("its satellites end with it") {
        const SynthDef sine = sine_def();
        f.start("TestReadNowhere");
        Synth* made;
        for (const auto& [id, relation] : {std::pair{1002, AddAction::preceding}, {1003, AddAction::succeeding}})
            REQUIRE(f.engine->tree().new_synth(*f.define(sine), nullptr, id, relation, 1001, made).ok());
        f.pump();
        f.nodes.clear();
        CHECK(f.sine_plays());
        std::string ended; // what crashed goes at once, what may be many comes after the block
        for (const NodeEvent& event : f.nodes)
            if (event.change == NodeChange::end)
                ended += std::to_string(event.id) + " ";
        CHECK(ended == "1001 1002 1003 ");
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

TEST_CASE("a UGen that crashes in its destructor is named, and so is one that does at the engine's end") {
    CrashFixture f;
    f.start("TestBadEnd");
    const auto text = [](int id) {
        return "UGen 'TestBadEnd' of synth " + std::to_string(id) + " (TestBadEnd) crashed when its synth was freed";
    };
    f.render(64);
    CHECK(f.printed == "");
    f.engine->tree().free(*f.engine->tree().find_synth(1001));
    CHECK(f.sine_plays());
    CHECK(f.printed == text(1001));
    Synth* synth;
    REQUIRE(
        f.engine->tree().new_synth(*f.define(def_with("TestBadEnd")), nullptr, 1002, AddAction::head, 0, synth).ok());
    f.render(64);
    std::string at_end;
    f.engine->report_end_to([&](const std::string& line) { at_end += line; });
    f.engine.reset();
    CHECK(at_end == text(1002));
}

TEST_CASE("code that stops as for a debugger ends, as by a crash") {
    FaultGuard::install();
    FaultGuard::prepare_thread();
    bool went_on = false;
    const bool whole = FaultGuard::run([&] {
        stop_for_debugger();
        went_on = true;
    });
    CHECK_FALSE(whole);
    CHECK_FALSE(went_on);
}

TEST_CASE("code that crashes leaves the floating-point mode as it was") {
    FaultGuard::install();
    FaultGuard::prepare_thread();
    const FlushToZero denormals; // a mode that differs from that of a signal handler, too
    const FloatMode before = float_mode();
    CHECK_FALSE(FaultGuard::run([] {
        set_float_mode(float_mode() ^ flushes_to_zero);
        *nowhere = 0.f;
    }));
    CHECK(float_mode() == before);
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

TEST_CASE("a UGen that aborts loses its synth, whatever the reason") {
    CrashFixture f;
    for (const char* ugen : {"TestAbort", "TestAssertion", "TestSmashed", "TestOverrun", "TestTerminate",
                             "TestNoexcept", "TestThrow", "TestAbortAtStart"}) {
        CAPTURE(ugen);
        f.printed.clear();
        f.start(ugen);
        CHECK(f.sine_plays());
        CHECK(f.printed.find(std::string("UGen '") + ugen + "' of synth 1001") == 0);
    }
}

TEST_CASE("an exception that was ended is not taken for one of the host's") {
    CHECK_FALSE(FaultGuard::run([]() noexcept { throw_now(nullptr, 1); }));
    CHECK(std::uncaught_exceptions() == 0);
    CHECK_FALSE(std::current_exception());
}

#if !defined(__SANITIZE_THREAD__) // it delivers a timer's signal only when the loop ends

[[noreturn]] void never_end() {
    for (volatile bool more = true; more;) {
    }
    std::abort();
}

struct WatchedFixture : CrashFixture {
    FaultGuard::Watched watched{FaultGuard::Patience::little};
};

/// It takes too long and is ended, and nothing else.
void check_is_ended(WatchedFixture& f, const std::string& ugen) {
    CAPTURE(ugen);
    f.printed.clear();
    f.start(ugen.c_str());
    CHECK(f.sine_plays());
    CHECK(f.printed == "UGen '" + ugen + "' of synth 1001 (" + ugen + ") took too long; the synth is freed");
    CHECK_FALSE(f.engine->status().broken);
}

TEST_CASE("a UGen that never ends is ended") {
    WatchedFixture f;
    for (const char* ugen : {"TestEndless", "TestEndlessStart", "TestEndlessCalls"})
        check_is_ended(f, ugen);
}

/// While it lives, another thread looks whether this one waits.
class Lookout {
public:
    explicit Lookout(std::chrono::milliseconds interval)
        : thread_([interval, watched = FaultGuard::watched_thread()](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                  FaultGuard::look_for_wait(watched);
                  std::this_thread::sleep_for(interval);
              }
          }) {}

private:
    std::jthread thread_;
};

TEST_CASE("a UGen that does nothing but wait is ended once another thread looks for that") {
    WatchedFixture f;
    const Lookout lookout(std::chrono::milliseconds(20));
    for (const char* ugen : {"TestWaits", "TestWaitsStart", "TestDeadlock"})
        check_is_ended(f, ugen);
}

TEST_CASE("a UGen that waits now and then, or computes while another thread looks, isn't ended for that") {
    WatchedFixture f;
    struct Case {
        const char* ugen;
        std::chrono::milliseconds interval;
    };
    for (const Case c :
         {Case{"TestWaitsShortly", std::chrono::milliseconds(15)}, {"TestSlow", std::chrono::milliseconds(2)}}) {
        CAPTURE(c.ugen);
        const Lookout lookout{c.interval};
        Synth* synth;
        REQUIRE(f.engine->tree().new_synth(*f.define(def_with(c.ugen)), nullptr, 1001, AddAction::head, 0, synth).ok());
        f.render(512);
        CHECK(f.engine->tree().find_synth(1001));
        CHECK(f.printed.empty());
        f.engine->tree().free(*synth);
        f.render(64);
    }
}

TEST_CASE("a UGen is ended for the time that it takes alone") {
    WatchedFixture f;
    Synth* synth;
    SynthDef def = def_with("TestSlow");
    def.units.assign(8, def.units[0]);
    REQUIRE(f.engine->tree().new_synth(*f.define(def), nullptr, 1001, AddAction::head, 0, synth).ok());
    f.render(64);
    CHECK(f.engine->tree().find_synth(1001));
    CHECK(f.printed.empty());
}

TEST_CASE("host code that never ends breaks its engine") {
    WatchedFixture f;
    SUBCASE("in a cycle") {
        REQUIRE(f.engine->submit(bundle_of([](Engine&) { never_end(); })));
        f.render(64);
        CHECK(f.engine->status().broken);
    }
    SUBCASE("between cycles") {
        REQUIRE(f.engine->submit(bundle_of([](Engine&) { never_end(); })));
        CHECK_FALSE(f.engine->run_idle());
        CHECK(f.engine->status().broken);
    }
    SUBCASE("but not if it gets on") {
        REQUIRE(f.engine->submit(bundle_of([](Engine&) {
            for (int i = 0; i < 20; ++i) {
                compute(10);
                FaultGuard::progress();
            }
        })));
        f.render(64);
        CHECK_FALSE(f.engine->status().broken);
    }
}

TEST_CASE("host code under a plugin that never ends, ends what is around the plugin") {
    const FaultGuard::Watched watched(FaultGuard::Patience::little);
    bool after = false;
    CHECK_FALSE(FaultGuard::run_host([&] {
        (void)FaultGuard::run([] {
            const FaultGuard::HostCode host;
            never_end();
        });
        after = true;
    }));
    CHECK_FALSE(after);
    CHECK(FaultGuard::last_ending() == FaultGuard::Ending::endless);
}

TEST_CASE("a plugin that spends its time in host code is ended when that returns") {
    const FaultGuard::Watched watched(FaultGuard::Patience::little);
    int left = 0;
    CHECK(FaultGuard::run_host([&] {
        CHECK_FALSE(FaultGuard::run([&] {
            for (int i = 0; i < 60; ++i) {
                const FaultGuard::HostCode host;
                compute(5);
                ++left;
            }
        }));
    }));
    CHECK(left < 60);
    CHECK(FaultGuard::last_ending() == FaultGuard::Ending::endless);
}

TEST_CASE("a watched thread that computes without a pause is given one before the kernel's patience ends") {
    const auto pauses = [] {
        rusage usage;
        REQUIRE(getrusage(RUSAGE_THREAD, &usage) == 0);
        return usage.ru_nvcsw;
    };
    const auto compute = [] {
        timespec used;
        double end = 0;
        do {
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
            const double now = double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
            end = end == 0 ? now + 0.3 : end;
            if (now > end)
                return;
        } while (true);
    };
    const auto before = pauses();
    compute();
    CHECK(pauses() == before);
    REQUIRE(FaultGuard::watch_thread(FaultGuard::Patience::little));
    compute();
    CHECK(pauses() >= before + 2);
    FaultGuard::unwatch_thread();
}

TEST_CASE("code is ended only where it is watched") {
    CHECK(FaultGuard::run([] { compute(150); }));
    {
        const FaultGuard::Watched watched(FaultGuard::Patience::little), again(FaultGuard::Patience::little);
        compute(150); // not guarded
        CHECK(FaultGuard::run_unhurried([] { compute(150); }));
        CHECK_FALSE(FaultGuard::run([] { never_end(); }));
        CHECK_FALSE(FaultGuard::run_unhurried([] {
            CHECK_FALSE(FaultGuard::run([] { never_end(); }));
            throw 1;
        }));
        CHECK(FaultGuard::last_ending() == FaultGuard::Ending::fault);
    }
    CHECK(FaultGuard::run([] { compute(150); }));
    const FaultGuard::Watched watched(FaultGuard::Patience::much);
    CHECK(FaultGuard::run([] { compute(150); }));
}
#endif

} // namespace scs::test

// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks that are computed at once end in time, and what they take is measured.
#include "test-long-player.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace scs;
using namespace scs::test;

TEST_CASE("a helper without work doesn't wait for ever for a thread that has no processor") {
    const Helped helped;
    static std::atomic<int> stops;
    stops = 0;
    Helped::help->at = [](HelpPolicy::Moment moment) noexcept {
        if (std::this_thread::get_id() == walking && moment == HelpPolicy::Moment::gate && stops > 0) {
            --stops;
            std::this_thread::sleep_for(std::chrono::milliseconds(200)); // of its own time a helper may take 60
        }
    };
    LongPlayer f(with(2), 1, 0);
    f.clear();
    for (int id = 1000; id < 1200; ++id)
        add(f, "saw", id);
    f.cycle(1);
    stops = 3;
    for (int i = 0; i < 300 && (stops > 0 || f.pipelined() == 0); ++i)
        f.cycle(8);
    CHECK(stops == 0);
    CHECK(f.pipelined() > 0);
    CHECK_FALSE(f.engine->status().broken);
}

TEST_CASE("the clock is read within a stage, so that the deadline isn't passed by as much as a stage takes") {
    const Helped helped;
    Settings settings = with(2);
    settings.max_nodes = 4096;
    LongPlayer f(settings, 1, 0);
    f.clear();
    static std::atomic<int> by_helper; // who reads it nowhere else
    f.engine->set_clock({[](void*) -> int64_t {
        by_helper += std::this_thread::get_id() != walking;
        return 0;
    }});
    for (int id = 1000; id < 4000; ++id) // some 3000 operations in each of four stages
        add(f, "saw", id);
    constexpr int frames = 16 * 64;
    float part[2][frames], *out[] = {part[0], part[1]};
    const float* in[] = {nullptr, nullptr};
    for (int i = 0; i < 3000 && by_helper == 0; ++i)
        f.engine->process(frames, ntp_advance(f.start, f.position += frames, 48000), 48000, in, out,
                          {.deadline = 1'000'000'000});
    CHECK(by_helper > 0);
    CHECK(f.pipelined() > 0);
}

TEST_CASE("what synths cost is measured in blocks that are computed at once, too, if there is a deadline") {
    const Helped helped;
    LongPlayer f(with(2), 1, 0);
    f.clear();
    for (int id = 1000; id < 1080; ++id)
        add(f, id < 1040 ? "saw" : "early", id);
    f.cycle(64);
    constexpr int frames = 8 * 64, cycles = 50;
    float part[2][frames], *out[] = {part[0], part[1]};
    const float* in[] = {nullptr, nullptr};
    for (const bool limited : {false, true}) {
        CAPTURE(limited);
        for (const char* kind : {"saw", "early"})
            f.def_of_kind(kind).facts->costs.synth = 1;
        const uint64_t before = f.pipelined();
        for (int i = 0; i < cycles; ++i)
            f.engine->process(frames, ntp_advance(f.start, f.position += frames, 48000), 48000, in, out,
                              {.deadline = limited ? NanoClock::system().now() + 60'000'000'000 : Deadline::never});
        CHECK(f.pipelined() - before == 8 * cycles);
        for (const char* kind : {"saw", "early"})
            CHECK((f.def_of_kind(kind).facts->costs.synth > 1) == limited);
    }
}

TEST_CASE("a cycle that is cut amid blocks that are computed at once ends in time, and who is to end ends") {
    const Helped helped;
    for (const int threads : {2, 3}) {
        CAPTURE(threads);
        Settings settings = with(threads);
        settings.overload = "none"; // the more a walk waits for helpers, the more often it reads this clock
        LongPlayer f(settings, 1, 0);
        f.clear();
        // Reading the clock takes a microsecond, so the deadline comes at any place in a block.
        static std::atomic<int64_t> now;
        now = 0;
        f.engine->set_clock({[](void*) -> int64_t { return now += 1000; }});
        for (int id = 1000; id < 1200; ++id)
            add(f, "saw", id);
        f.cycle(16);
        constexpr int frames = 16 * 64;
        float part[2][frames], *out[] = {part[0], part[1]};
        const float* in[] = {nullptr, nullptr};
        const uint64_t before = f.pipelined(), cuts_before = f.engine->status().cuts;
        for (int i = 0; i < 100; ++i) {
            if (Synth* synth = f.engine->tree().find_synth(1199 - i))
                set_named(f.engine->tree(), *synth, "gate", 0, 0.f);
            f.engine->process(frames, ntp_advance(f.start, f.position += frames, 48000), 48000, in, out,
                              {.deadline = f.pick(3) ? Deadline::never : now + 1000 * (5 + f.pick(60))});
        }
        const uint64_t cuts = f.engine->status().cuts - cuts_before;
        CHECK(cuts > 0);
        CHECK(cuts < 50);
        CHECK(f.pipelined() - before > 16);
        for (int id = 1000; id < 1200; ++id)
            if (Synth* synth = f.engine->tree().find_synth(id))
                set_named(f.engine->tree(), *synth, "gate", 0, 0.f);
        for (int i = 0; i < 5; ++i)
            f.cycle(16);
        CHECK(f.engine->tree().counts().synths() == 0);
    }
}

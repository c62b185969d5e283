// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers that crash or hang while they compute voices: the engine is given up, and nobody waits for ever.
#include "engine/schedule/test-threads.hpp"
#include "test-player.hpp"

using namespace scs;
using namespace scs::test;

namespace {

volatile int* volatile nowhere = reinterpret_cast<volatile int*>(16); // not null, which sanitizers report

enum class Plant { nothing, fault, loop, block, fault_in_walk };
std::atomic<Plant> plant{Plant::nothing}; ///< what the next job of a helper does, or the walk when it has begun
std::atomic<bool> blocked{false}, open{false};

void do_planted(HelpPolicy::Moment moment) noexcept {
    if (std::this_thread::get_id() == walking) {
        delay_at_random(moment);
        if (plant == Plant::fault_in_walk)
            *nowhere = 1;
        return;
    }
    ++helped_often;
    if (plant == Plant::fault_in_walk)
        return;
    switch (plant.exchange(Plant::nothing)) {
    case Plant::nothing:
    case Plant::fault_in_walk: break;
    case Plant::fault: *nowhere = 1; break;
    case Plant::loop:
        for (volatile bool more = true; more;) {
        }
        break;
    case Plant::block:
        blocked = true;
        while (!open)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        blocked = false;
    }
}

struct Planted : Helped {
    Planted() {
        help->at = do_planted;
        help->longest_hang = HelpPolicy::usual.longest_hang;
    }
};

/// A piece with two helpers, played until the plant has broken its engine.
struct Victim : Player {
    explicit Victim(const Settings& settings) : Player(settings, 1, 0) { go(20); }
    static Settings settings(bool real_time) {
        Settings settings = with(3);
        settings.real_time = real_time;
        return settings;
    }
    bool broken() const { return engine->status().broken; }
    void break_by(Plant what) {
        CHECK_FALSE(broken());
        plant = what;
        for (int block = 0; !broken() && block < 10'000; ++block)
            go(1);
        plant = Plant::nothing;
        REQUIRE(broken());
        for (const float sample : render(256))
            CHECK(sample == 0.f);
    }
};

#if defined(__SANITIZE_THREAD__) // it lives through one fault in a thread, and there is one walking thread
constexpr Plant faults[] = {Plant::fault};
#else
constexpr Plant faults[] = {Plant::fault, Plant::fault_in_walk};
#endif

} // namespace

/// For the leak sanitizer: broken engines are never freed.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:Victim::Victim";
}

TEST_CASE("a fault in a helper breaks the engine, and helpers end with a broken one") {
    const Planted planted;
    for (const bool real_time : {true, false})
        for (const bool by_worker : {true, false})
            for (const Plant what : faults) {
                CAPTURE(real_time);
                CAPTURE(by_worker);
                CAPTURE(int(what));
                Victim f(Victim::settings(real_time));
                f.break_by(what);
                if (by_worker)
                    CHECK(f.engine->abandon_threads());
                else
                    f.engine.reset();
                CHECK(wait_until([] { return helper_threads() == ""; }));
            }
}

#if !defined(__SANITIZE_THREAD__) // it delivers a timer's signal only when the loop ends
TEST_CASE("a helper without end breaks the engine") {
    const Planted planted;
    Victim f(Victim::settings(true));
    f.break_by(Plant::loop);
    CHECK(f.engine->abandon_threads());
    CHECK(wait_until([] { return helper_threads() == ""; }));
}
#endif

TEST_CASE("a helper that is blocked breaks the engine, and ends when it can") {
    const Planted planted;
    Victim f(Victim::settings(true));
    f.break_by(Plant::block);
    CHECK(blocked);
    CHECK_FALSE(f.engine->abandon_threads());
    CHECK(wait_until([] { return helper_threads().size() == 1; }));
    open = true;
    CHECK(wait_until([] { return helper_threads() == ""; }));
    CHECK_FALSE(blocked);
    CHECK(f.engine->abandon_threads());
}

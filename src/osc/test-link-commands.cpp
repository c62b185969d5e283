// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-command-bench.hpp"

#include <limits>

using namespace scs::osc::test;

namespace {

std::string failed(const std::string& command, const std::string& text) {
    return "[ \"/fail\", \"" + command + "\", \"" + text + "\" ]\n";
}

constexpr double inf = std::numeric_limits<double>::infinity(), no_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_CASE("a session's beats are on a binding's buses as of when the block is heard") {
    CommandBench bench; // in second 7
    CHECK(bench("/bind_beat", 1, "link", "c10", "beats-per-bar", 3) == "");
    bench.process();
    CHECK(bench("/c_getn", 10, 4) == "[ \"/c_setn\", 10, 4, 0, 0, 0, 0 ]\n");
    CHECK(bench("/link", 5.5, 10.25, 2.0, 1, 0.0) == "");
    bench.process();
    CHECK(bench("/c_getn", 10, 4) == "[ \"/c_setn\", 10, 4, 1.25, 2, 1, 4 ]\n");
    CHECK(bench("/link", 7.5, 0.25, 2.5, 1, 7.25) == ""); // before its beat 0, and before it plays
    bench.process();
    CHECK(bench("/c_getn", 10, 4) == "[ \"/c_setn\", 10, 4, 2, 2.5, 0, -1 ]\n");
    CHECK(bench("/link", 7.5, 0.25, 2.5, 0, 7.25) == ""); // and before it stops
    bench.process();
    CHECK(bench("/c_get", 12) == "[ \"/c_set\", 12, 1 ]\n");
    CHECK(bench("/link", 6.0, 1, 1, 0, 6.5) == "");
    bench.process();
    CHECK(bench("/c_getn", 10, 4) == "[ \"/c_setn\", 10, 4, 2, 1, 0, 0 ]\n");
    CHECK(bench("/link") == "");
    bench.process();
    CHECK(bench("/c_getn", 10, 4) == "[ \"/c_setn\", 10, 4, 0, 0, 0, 0 ]\n");
}

TEST_CASE("a mistake in what is told of a session changes nothing") {
    CommandBench bench;
    CHECK(bench("/link", 7.0, 1.0, 2.0, 1, 0.0) == "");
    const std::string times = failed("/link", "a time is to be seconds since 1900");
    const std::string tempo = failed("/link", "the tempo is to be 20 to 999 beats a minute, in beats a second");
    for (const double bad : {-1.0, 0.0, no_number, inf, 5e9})
        CHECK(bench("/link", bad, 1.0, 1.0, 0, 0.0) == times);
    for (const double bad : {-1.0, no_number, inf, 5e9})
        CHECK(bench("/link", 7.0, 1.0, 1.0, 0, bad) == times);
    for (const double bad : {no_number, inf, -inf, 1e13})
        CHECK(bench("/link", 7.0, bad, 1.0, 0, 0.0) == failed("/link", "the beat is to be a number"));
    for (const double bad : {0.0, -2.0, 0.333, 16.66, no_number, inf})
        CHECK(bench("/link", 7.0, 1.0, bad, 0, 0.0) == tempo);
    CHECK(bench("/link", 7.0, 1.0, 1.0, 2, 0.0) == failed("/link", "playing is to be 0 or 1"));
    CHECK(bench("/link", 7.0, 1.0, 1.0, 1) == times);
    CHECK(bench("/link", 7.0) == failed("/link", "a time is to be seconds since 1900"));
    CHECK(bench("/link", "now", 1.0, 1.0, 1, 0.0) == times);
    const scs::LinkTimeline& link = bench.engine().world().link();
    CHECK((link.beat == 1 && link.tempo == 2 && link.playing && link.since == 0));
    CHECK(link.time == scs::NtpTime(7) << 32);
    CHECK(bench("/link", 7.0, 1.0, 20 / 60.0, 0, 0.0) == "");
    CHECK(bench("/link", 7.0, 1.0, 999 / 60.0, 0, 0.0) == "");
}

TEST_CASE("what is asked of a session is told to who told of it, with the time") {
    CommandBench bench;
    CHECK(bench("/link_set", "tempo", 2) == failed("/link_set", "pw-scsynth link doesn't run"));
    CHECK(bench("/link", 7.0, 1.0, 2.0, 1, 0.0) == "");
    bench.process();
    CHECK(bench("/link_set", "tempo", 2.5) == "[ \"/link_set\", \"tempo\", 2.5, 4, 7 ]\n");
    CHECK(bench("/link_set", "playing", 0) == "[ \"/link_set\", \"playing\", 0, 4, 7 ]\n");
    CHECK(bench("/link_set", "jump", 1, 3) == "[ \"/link_set\", \"jump\", 1, 3, 7 ]\n");
    CHECK(bench("/link_set", "force", 0.5, 8) == "[ \"/link_set\", \"force\", 0.5, 8, 7 ]\n");
    CHECK(bench("/link_set", "tempo", 0.1) ==
          failed("/link_set", "the tempo is to be 20 to 999 beats a minute, in beats a second"));
    CHECK(bench("/link_set", "playing", 2) == failed("/link_set", "playing is to be 0 or 1"));
    for (const double bad : {0.0, -1.0, no_number, inf})
        CHECK(bench("/link_set", "jump", 1, bad) == failed("/link_set", "a beat and a quantum above 0 are missing"));
    CHECK(bench("/link_set", "force", no_number) == failed("/link_set", "a beat and a quantum above 0 are missing"));
    CHECK(bench("/link_set", "volume", 1) == failed("/link_set", "what is set is tempo, playing, jump or force"));
    CHECK(bench("/link_set", "tempo") == failed("/link_set", "wrong argument type"));
}

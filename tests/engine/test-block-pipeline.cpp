// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks that are computed at once are the same, bit by bit, as those computed one after the other.
#include "engine/abi/abi.hpp"
#include "engine/control/control-outputs.hpp"
#include "engine/world/buffers.hpp"
#include "test-long-player.hpp"

#include <array>
#include <functional>

using namespace scs;
using namespace scs::test;

namespace {

volatile int* volatile nowhere = reinterpret_cast<volatile int*>(16); // not null, which sanitizers report

/// Plays what `make` puts into an empty tree, and what `act` does before each cycle.
struct Piece {
    std::string name;
    std::function<void(LongPlayer&)> make;
    std::function<void(LongPlayer&, int cycle)> act = [](LongPlayer&, int) {};
    int frames = 8 * 64; ///< of a cycle

    Played play(int threads, uint64_t* by_helpers = nullptr) const {
        LongPlayer f(with(threads, threads > 1), 1, 0, 5);
        f.clear();
        make(f);
        int cycle = 0;
        const auto go = [&] {
            act(f, cycle++);
            f.cycle_of(cycle % 4 ? frames : 4 * frames);
        };
        while (cycle < 30)
            go();
        const Played played = f.told();
        while (by_helpers && threads > 1 && cycle < 300 && f.pipelined() == 0) // helpers may come late
            go();
        if (by_helpers)
            *by_helpers = f.pipelined();
        return played;
    }
};

/// Frees a synth when it is run.
struct FreeSynth final : Command {
    explicit FreeSynth(int32_t which) : id(which) {}
    Outcome run(Engine& engine) noexcept override {
        if (Synth* synth = engine.tree().find_synth(id))
            engine.tree().free(*synth);
        return Outcome::done;
    }
    const int32_t id;
};

/// It sounds the same with one thread and with more, which compute several blocks at once, and voices of it end.
void check_ends(const Piece& piece) {
    CAPTURE(piece.name);
    const Played alone = piece.play(1);
    CHECK(alone.events.size() > 60 + 40);
    for (const int threads : {2, 3}) {
        CAPTURE(threads);
        uint64_t computed = 0;
        CHECK(same(alone, piece.play(threads, &computed)));
        CHECK(computed > 0);
    }
}

} // namespace

TEST_CASE("whatever happens to the tree between cycles, the bits and the events are those of one thread") {
    const Helped helped;
    uint64_t computed = 0;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        CAPTURE(seed);
        const int buses = std::array{0, 5, 12, 30}[seed % 4];
        const size_t count = std::array{adding_kinds, ahead_kinds, harmless_kinds}[seed % 3];
        const auto play = [&](int threads) {
            LongPlayer player(with(threads, threads > 1), seed, seed % 8 == 0 ? 40 : 0, buses);
            Played played = player.play_cycles(40, count);
            computed += player.pipelined();
            return played;
        };
        check_same(play, {2, 8});
    }
    CHECK(computed > 200);
}

TEST_CASE("SuperCollider's own units are computed several blocks at once, too, whatever happens to the tree") {
    const Helped helped;
    uint64_t computed = 0;
    for (unsigned seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        const auto play = [&](int threads) {
            Settings settings = with(threads);
            settings.native_ugens = false;
            LongPlayer player(settings, seed, seed == 6 ? 40 : 0, std::array{0, 5, 12}[seed % 3]);
            Played played = player.play_cycles(30, seed % 2 ? ahead_kinds : harmless_kinds);
            computed += player.pipelined();
            return played;
        };
        check_same(play, {2, 3});
    }
    CHECK(computed > 20);
}

TEST_CASE("what hands sound, values or random numbers on is computed several blocks at once, too") {
    const Helped helped;
    const Piece pieces[] = {
        {.name = "a track with its effect",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1024; ++id)
                     add(f, id < 1012 ? "saw" : "stays", id, float(4 + id % 3));
                 for (int id = 1024; id < 1028; ++id)
                     add(f, "sends", id, 0, float(4 + id % 3));
                 add(f, "effect", 1030, 0);
             }},
        {.name = "loudness that a control bus hands on",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1012; ++id)
                     add(f, "saw", id);
                 for (int id = 1012; id < 1018; ++id)
                     add(f, id % 2 ? "listens" : "tells", id, 0, 2);
                 for (int id = 1018; id < 1030; ++id)
                     add(f, "saw", id);
             }},
        {.name = "voices that follow control buses",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id % 8 == 3 && id < 1016 ? "tells" : "saw", id, 0, 2);
                 f.engine->buses().control()[3] = 0.25f;
                 for (int id = 1000; id < 1040; id += 2) // half of them what is told, as long as that is written
                     map_named(f.engine->tree(), *f.engine->tree().find_synth(id), "amp", 0, id < 1028 ? 2 : 3, false);
             },
         .act =
             [](LongPlayer& f, int cycle) { // what they tell changes
                 if (Synth* synth = f.engine->tree().find_synth(cycle == 3 ? 1003 : 1011); synth && cycle % 10 == 3)
                     set_named(f.engine->tree(), *synth, "gate", 0, -1.08f);
             }},
        {.name = "what comes from outside, in cycles that are no whole blocks",
         .make =
             [](LongPlayer& f) {
                 f.hears = true;
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id % 8 == 7 ? "sends" : "saw", id, float(id % 16 == 8 ? 2 : 0), 2);
             },
         .frames = 8 * 64 + 20},
        {.name = "noise among others",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1032; ++id)
                     add(f, id % 4 ? "stays" : "hiss-stays", id);
             }},
        {.name = "noise of which nobody knows how much",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id >= 1008 && id < 1012 ? id % 2 ? "steps" : "hiss" : "saw", id);
             }},
        {.name = "noise that frees itself",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id % 4 ? "hiss-stays" : "hiss-frees", id);
             },
         .act =
             [](LongPlayer& f, int cycle) {
                 if (Synth* synth = f.engine->tree().find_synth(1000 + 4 * (cycle - 5)))
                     set_named(f.engine->tree(), *synth, "gate", 0, 0.f);
             }},
        {.name = "voices that pause, and go on later",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, "pauses", id);
             },
         .act =
             [](LongPlayer& f, int cycle) {
                 Tree& tree = f.engine->tree();
                 set_named(tree, *tree.find_synth(1000 + cycle % 40), "gate", 0, 0.f);
                 if (Synth& synth = *tree.find_synth(1000 + (cycle + 37) % 40); cycle >= 3) {
                     tree.runs().set_run(synth, true);
                     set_named(tree, synth, "gate", 0, 1.f);
                 }
             }},
        {.name = "voices in turn",
         .make =
             [](LongPlayer& f) { // so that their batches are interleaved
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id < 1020 ? id % 2 ? "saw" : "stays" : "moved", id);
             }},
    };
    for (const Piece& piece : pieces) {
        CAPTURE(piece.name);
        // Where their runs overlap there is no place for a cut.
        const bool in_turn = piece.name == "voices in turn";
        for (const int threads : {2, 3}) {
            CAPTURE(threads);
            uint64_t computed = 0;
            CHECK(same(piece.play(1), piece.play(threads, in_turn ? nullptr : &computed)));
            CHECK((in_turn || computed > 0));
        }
    }
}

TEST_CASE("synths of plugins' units are computed several blocks at once, too") {
    const Helped helped;
    const auto mixed = [](std::string_view kind, std::string_view other = "stays") {
        return [=](LongPlayer& f) {
            for (int id = 1000; id < 1040; ++id)
                add(f, id % 8 == 5 ? kind : other, id, float(id % 3), 2);
        };
    };
    const Piece pieces[] = {
        {.name = "among voices that end",
         .make = mixed("plugin", "saw"),
         .act =
             [](LongPlayer& f, int cycle) { // plugins' units, too
                 if (Synth* synth = f.engine->tree().find_synth(1005 + cycle))
                     set_named(f.engine->tree(), *synth, "gate", 0, cycle % 2 ? 0.f : -1.02f);
             }},
        {.name = "random numbers",
         .make =
             [](LongPlayer& f) { // of which nobody knows how many
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id >= 1012 ? "stays" : id % 4 ? "hiss-stays" : "gendy-stays", id, float(id % 3), 2);
             }},
        {.name = "an effect on a bus", .make = mixed("plugin-effect", "saw")},
        {.name = "a control bus",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id < 1004 ? "tells" : id < 1008 ? "plugin-listens" : "saw", id, 0, 2);
             }},
        {.name = "a mapped control",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id < 1004 ? "tells" : id % 8 == 5 ? "plugin" : "saw", id, 0, 2);
                 map_named(f.engine->tree(), *f.engine->tree().find_synth(1005), "amp", 0, 2, false);
             }},
        {.name = "messages",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1040; ++id)
                     add(f, id < 1012 && id % 4 == 0 ? "sends-stays" : "stays", id, float(id % 3), 2);
             }},
    };
    for (const Piece& piece : pieces) {
        CAPTURE(piece.name);
        const Played alone = piece.play(1);
        CHECK(alone.triggers.empty() == (piece.name != "messages"));
        for (const int threads : {2, 3}) {
            CAPTURE(threads);
            uint64_t computed = 0;
            CHECK(same(alone, piece.play(threads, &computed)));
            CHECK(computed > 0);
        }
    }
}

TEST_CASE("a sample buffer that a synth writes is read as it is in that block") {
    const Helped helped;
    std::vector<float> samples;
    for (const bool several : {false, true}) {
        CAPTURE(several);
        const auto play = [&](int threads) {
            samples.assign(256, 0.f);
            LongPlayer f(with(threads), 1, 0, 5);
            f.clear();
            f.engine->buffers().install(0, {.data = samples.data(), .frames = 256, .channels = 1});
            // All who read it must be in the stage of who writes it.
            for (int id = 1000; id < 1040; ++id)
                add(f, id == 1000 ? "writes" : id < 1025 ? "plays" : "stays", id);
            for (int i = 0; i < 100; ++i)
                f.cycle(several ? 8 : 1);
            if (threads > 1)
                CHECK((several ? f.pipelined() : f.computed_ahead()) > 0);
            f.engine->buffers().install(0, {});
            return f.told();
        };
        check_same(play, {2, 3});
    }
}

#if !defined(__SANITIZE_THREAD__) // it lives through one fault in a thread
TEST_CASE("a unit that crashes or has no end amid blocks that are computed at once ends its synth in its block") {
    const Helped helped;
    const FaultGuard::Watched watched(FaultGuard::Patience::little);
    static std::atomic<int> blocks_left, on_helpers;
    static bool endless;
    Piece piece{.make =
                    [](LongPlayer& f) {
                        for (int id = 1000; id < 1060; ++id)
                            add(f, id % 8 == 5 ? "plugin" : "saw", id, float(id % 2));
                    },
                .act =
                    [](LongPlayer& f, int cycle) {
                        Synth* synth = f.engine->tree().find_synth(1005 + 8 * (cycle % 7));
                        if (!synth || cycle == 0) // its units aren't there before its first block
                            return;
                        if (cycle % 3 == 0)
                            set_named(f.engine->tree(), *synth, "gate", 0, -1.02f); // it may end just before
                        blocks_left = 1 + cycle % 8;
                        auto& graph = *static_cast<::Graph*>(synth->graph->node());
                        graph.mCalcUnits[1]->mCalcFunc = [](::Unit*, int) {
                            if (--blocks_left != 0)
                                return;
                            on_helpers += std::this_thread::get_id() != walking;
                            for (volatile bool more = endless; more;) {
                            }
                            *nowhere = 1;
                        };
                    }};
    for (const bool without_end : {false, true}) {
        CAPTURE(without_end);
        endless = without_end;
        piece.name = endless ? "endless" : "crashing";
        check_ends(piece);
        const std::string told = endless ? "took too long; the synth is freed" : "crashed; the synth is freed";
        CHECK(piece.play(1).printed.find(told) != std::string::npos);
        on_helpers = 0;
        for (int i = 0; i < 50 && on_helpers == 0; ++i)
            CHECK(piece.play(2).printed.find(told) != std::string::npos);
        CHECK(on_helpers > 0);
    }
}
#endif

TEST_CASE("who ends or pauses itself amid blocks that are computed at once does so in its block") {
    const Helped helped;
    const Piece piece{.make =
                          [](LongPlayer& f) {
                              for (int id = 1000; id < 1060; ++id)
                                  add(f,
                                      id < 1020     ? "loud"
                                      : id % 7 == 3 ? "pauses"
                                      : id % 5 == 2 ? "hiss"
                                                    : "saw",
                                      id, float(id % 2));
                          },
                      .act =
                          [](LongPlayer& f, int cycle) {
                              for (int32_t id = 1000 + cycle; id < 1060;
                                   id += 30) // their envelopes end within the cycle
                                  if (Synth* synth = f.engine->tree().find_synth(id))
                                      set_named(f.engine->tree(), *synth, "gate", 0, cycle % 2 ? 0.f : -1.05f);
                          }};
    check_ends(piece);
}

TEST_CASE("synths that don't start with a block leave sound behind in the block after their last one") {
    const Helped helped;
    const auto piece = [](std::string name, std::function<std::string(int id)> kind, std::function<float(int id)> out) {
        return Piece{.name = std::move(name),
                     .make =
                         [=](LongPlayer& f) {
                             f.engine->world().set_offset(20, 0.f);
                             for (int id = 1000; id < 1060; ++id)
                                 add(f, kind(id), id, out(id));
                             f.cycle(1);
                             f.engine->world().set_offset(0, 0.f);
                         },
                     .act =
                         [](LongPlayer& f, int cycle) {
                             for (int i = 0; i < 2; ++i) // neighbours, too; each ends within some blocks
                                 if (Synth* synth = f.engine->tree().find_synth(1000 + (11 * cycle + i) % 60))
                                     set_named(f.engine->tree(), *synth, "gate", 0,
                                               -1.001f - 0.0013f * float((cycle + i) % 8));
                             // What this one leaves behind is there before the cycle's first block.
                             auto* bundle = new CommandBundle;
                             bundle->append(new FreeSynth(1000 + (7 * cycle + 5) % 60));
                             REQUIRE(f.engine->submit(bundle));
                         }};
    };
    const auto same_bus = [](int) { return 0.f; };
    const Piece pieces[] = {
        piece(
            "neighbours", [](int) { return "loud-moved"; }, same_bus),
        piece(
            "neighbours on buses of their own", [](int) { return "loud-moved"; },
            [](int id) { return id % 4 ? 4.f : 5.f; }),
        piece(
            "lone ones",
            [](int id) {
                return std::array{"loud-moved", "saw", "moved"}[size_t(id % 3)];
            },
            [](int id) { return float(id % 2); }),
        piece(
            "of plugins' units", [](int id) { return id % 3 ? "plugin-moved" : "saw"; },
            [](int id) { return float(id % 2); }),
        piece(
            "voices in turn",
            [](int id) { return id < 1012   ? "saw"
                                : id > 1050 ? "stays"
                                : id % 2    ? "loud-moved"
                                            : "loud"; }, same_bus),
    };
    for (const Piece& piece : pieces)
        check_ends(piece);
}

TEST_CASE("what would reach into another block is computed block by block") {
    const Helped helped;
    const Piece pieces[] = {
        {.name = "feedback",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1016; ++id)
                     add(f, "feeds", id, 4, 4);
                 for (int id = 1016; id < 1032; ++id)
                     add(f, "saw", id, 4);
                 add(f, "effect", 1040, 4);
                 for (int id = 1041; id < 1050; ++id)
                     add(f, "sends", id, 0, 4);
             }},
        {.name = "a bus that is written after what listens to it",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1016; ++id)
                     add(f, "listens", id, 0, 2);
                 for (int id = 1016; id < 1032; ++id)
                     add(f, "saw", id);
                 add(f, "tells", 1040, 0, 2);
             }},
        {.name = "controls mapped to an audio bus that nobody writes any more",
         .make =
             [](LongPlayer& f) {
                 add(f, "loud", 1000, 4);
                 for (int id = 1001; id < 1033; ++id) {
                     add(f, "saw", id);
                     map_named(f.engine->tree(), *f.engine->tree().find_synth(id), "amp", 0, 4, true);
                 }
             },
         .act =
             [](LongPlayer& f, int cycle) {
                 if (Synth* synth = f.engine->tree().find_synth(1000); synth && cycle == 3)
                     set_named(f.engine->tree(), *synth, "gate", 0, -1.001f);
             }},
        {.name = "satellites",
         .make =
             [](LongPlayer& f) {
                 for (int id = 1000; id < 1032; ++id)
                     add(f, "saw", id);
                 Synth* made;
                 for (int id = 2000; id < 2008; ++id)
                     REQUIRE(f.engine->tree()
                                 .new_synth(f.def_of_kind("saw"), nullptr, id, AddAction::succeeding, id - 990, made)
                                 .ok());
             },
         .act =
             [](LongPlayer& f, int cycle) {
                 if (Synth* synth = f.engine->tree().find_synth(1010 + cycle))
                     set_named(f.engine->tree(), *synth, "gate", 0, 0.f);
             }},
    };
    for (const Piece& piece : pieces) {
        CAPTURE(piece.name);
        const Played alone = piece.play(1);
        for (const int threads : {2, 8})
            CHECK(same(alone, piece.play(threads)));
    }
}

TEST_CASE("a start that draws random numbers comes where others have drawn theirs") {
    const Helped helped;
    SynthDef def;
    def.name = "drawn";
    def.constants = {100.f, 900.f, 0.f, 0.5f};
    def.units = {unit("Rand", scs::Rate::scalar, {{-1, 0}, {-1, 1}}, {scs::Rate::scalar}),
                 unit("VarSaw", scs::Rate::audio, {{0, 0}, {-1, 2}, {-1, 3}}, {scs::Rate::audio}),
                 unit("Out", scs::Rate::audio, {{-1, 2}, {1, 0}}, {})};
    for (const char* others : {"saw", "hiss-stays"}) {
        CAPTURE(std::string(others));
        const Piece piece{.make =
                              [&](LongPlayer& f) {
                                  f.defs.push_back(f.define(def));
                                  CHECK(f.defs.back()->code->starts_anywhere);
                                  for (int id = 1000; id < 1060; ++id)
                                      add(f, others, id);
                              },
                          .act =
                              [](LongPlayer& f, int cycle) {
                                  if (cycle % 3 == 2)
                                      f.voice(*f.defs.back(), 2000 + cycle, AddAction::after, 1000 + cycle);
                              }};
        const Played alone = piece.play(1);
        for (const int threads : {2, 3}) {
            CAPTURE(threads);
            uint64_t computed = 0;
            CHECK(same(alone, piece.play(threads, &computed)));
            CHECK(computed > 0);
        }
    }
}

TEST_CASE("a voice that comes costs one walk at most, even if it joins others that aren't its neighbours") {
    const Helped helped;
    LongPlayer f(with(2), 1, 0);
    f.clear();
    int32_t id = 1000;
    const auto add_next = [&] {
        add(f, id % 2 ? "saw" : "early", id);
        ++id;
    };
    while (id < 1040)
        add_next();
    f.cycle(64); // all have joined whom they can
    for (const int walks : {0, 1}) {
        if (walks)
            add(f, "hiss", 999); // its random numbers come in the order of the turns, so voices start in theirs
        f.cycle(64);
        int without = 0;
        for (int i = 0; i < 20; ++i) {
            add_next();
            const uint64_t before = f.pipelined();
            f.cycle(8);
            CHECK(f.pipelined() - before >= 7);
            without += f.pipelined() - before == 8;
        }
        CHECK(without == (walks == 0 ? 20 : 0));
    }
}

TEST_CASE("blocks are computed one by one while somebody listens to what synths tell, which has its frame") {
    const Helped helped;
    LongPlayer f(with(2), 1, 0);
    f.clear();
    for (int32_t id = 1000; id < 1064; ++id)
        add(f, "saw", id);
    f.cycle(64);
    for (const uint32_t linked : {0u, 1u, 2u}) {
        f.engine->control_outputs().set_linked(linked);
        const uint64_t before = f.pipelined();
        f.cycle(8);
        CHECK(f.pipelined() - before == (linked & 1 ? 0 : 8));
    }
}

TEST_CASE("voices find others to be batched with before blocks that are computed at once, without a walk") {
    const Helped helped;
    LongPlayer f(with(2), 1, 0);
    f.clear();
    Tree& tree = f.engine->tree();
    const auto batches = [&] {
        int count = 0;
        for (const auto* node = tree.find_group(0)->head; node; node = node->next)
            count += Turns::leads_batch(static_cast<const Synth&>(*node));
        return count;
    };
    for (int32_t id = 1000; id < 1064; ++id)
        add(f, "saw", id);
    f.cycle(64);
    const int before = batches();
    CHECK(before >= 4);
    for (int32_t id = 1000; id < 1064; id += 2)
        tree.free(*tree.find_synth(id));
    f.cycle(8); // they are gone
    const uint64_t computed = f.pipelined();
    for (int i = 0; i < 8; ++i)
        f.cycle(8);
    CHECK(f.pipelined() - computed == 64);
    CHECK(batches() == before / 2);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Helper threads change no bit and no event, whatever happens to the tree while they compute.
#include "engine/schedule/cores.hpp"
#include "test-player.hpp"

#include <array>

using namespace scs;
using namespace scs::test;

namespace {

/// Plain threads that say that they have a priority, or none.
class Priority final : public ThreadMaker {
public:
    explicit Priority(bool urgent) : urgent_(urgent) {}
    void* start(void* (*body)(void*), void* argument) override { return plain_->start(body, argument); }
    void join(void* thread) noexcept override { plain_->join(thread); }
    Urgency urgency() const noexcept override { return urgent_ ? Urgency::urgent : Urgency::not_yet; }

private:
    std::shared_ptr<ThreadMaker> plain_ = ThreadMaker::plain();
    bool urgent_;
};

} // namespace

TEST_CASE("what voices are computed ahead follows from what they do") {
    Player f(with(1), 1, 0);
    for (size_t i = 0; i < f.defs.size(); ++i) {
        CAPTURE(f.defs[i]->program->name);
        const NativeCode* code = f.defs[i]->code.get();
        CHECK((code && code->ahead) == (i < ahead_kinds));
        CHECK((code && code->lone_ahead) == (i < ahead_kinds));
        CHECK(f.defs[i]->facts->acts_on_itself == (i < harmless_kinds));
    }
}

TEST_CASE("whatever happens to the tree, the bits and the events are those of one thread") {
    const Helped helped;
    uint64_t computed[3] = {};
    for (unsigned seed = 1; seed <= 16; ++seed) {
        CAPTURE(seed);
        const int barriers = std::array{0, 40, 12}[seed % 3];
        const int buses = std::array{0, 5, 12, 30}[seed % 4];
        const Played alone = Player(with(1, false), seed, barriers, buses).play(250);
        for (const int threads : {1, 2, 3, 8}) {
            CAPTURE(threads);
            Player helped_player(with(threads), seed, barriers, buses);
            CHECK(same(alone, helped_player.play(250)));
            computed[seed % 3] += helped_player.computed_ahead();
        }
        CHECK(alone.sound != std::vector<float>(alone.sound.size()));
        CHECK(alone.events.size() > 150);
    }
    for (const uint64_t batches : computed)
        CHECK(batches > 500);
}

TEST_CASE("what may reach a batch before its turn isn't overtaken") {
    const Helped helped;
    // Three ways in which a synth that pauses the next node, here a group, comes to have its turn before batches: it
    // was there before, runs again, or is moved there.
    enum class Way { there, resumed, moved };
    uint64_t computed = 0; // where nothing is in the way at first
    for (const char* pausing : {"pauses-after", "plugin-pauses"})
        for (const Way way : {Way::there, Way::resumed, Way::moved})
            for (int after = 0; after < 5; ++after) { // its done action comes within these blocks
                const auto play = [&](int threads) {
                    Player f(with(threads), 1, 0);
                    Tree& tree = f.engine->tree();
                    f.clear();
                    Group* group;
                    REQUIRE(tree.new_group(1, AddAction::tail, 0, group).ok());
                    const Kind plugin{.name = "plugin-pauses", .done = 10, .plugin = true};
                    Definition* of = f.define(def_of(plugin.name == std::string(pausing) ? plugin : Kind{pausing, 10}));
                    Synth* made;
                    for (int id = 1000; id < 1032; ++id)
                        REQUIRE(tree.new_synth(*f.defs[0], nullptr, id, AddAction::tail, 1, made).ok());
                    Synth* first = tree.find_synth(1000);
                    REQUIRE(tree.new_synth(*of, nullptr, 2000, way == Way::moved ? AddAction::tail : AddAction::head, 0,
                                           made)
                                .ok());
                    f.go(20);
                    const bool batched = first->voice->batch != nullptr;
                    CHECK(batched);
                    set_named(tree, *made, "gate", 0, 0.f);
                    if (way == Way::resumed)
                        tree.runs().set_run(*made, false);
                    f.go(after);
                    if (way == Way::resumed)
                        tree.runs().set_run(*made, true);
                    if (Synth* there = tree.find_synth(2000); there && way == Way::moved)
                        REQUIRE(move_now(tree, *there, AddAction::head, tree.root()).ok());
                    f.go(10);
                    if (way != Way::moved || after < 2) // later it ends before it is moved
                        CHECK(group->run == Run::off);
                    tree.runs().set_run(*group, true);
                    f.go(10);
                    computed += way == Way::moved ? f.computed_ahead() : 0;
                    return f.told();
                };
                CAPTURE(std::string(pausing));
                CAPTURE(int(way));
                CAPTURE(after);
                CHECK(same(play(1), play(2)));
            }
    CHECK(computed > 0);
}

TEST_CASE("how many threads there are is decided by the cores, if nobody says it") {
    CHECK(Fixture(with(0)).engine->settings().threads == std::min(cores_to_run_on(), 4));
    CHECK(Fixture(with(0)).engine->settings().reluctant);
    CHECK_FALSE(Fixture(with(3)).engine->settings().reluctant);
}

TEST_CASE("threads that nobody has asked for help when one is hardly enough, and with the data loop's priority") {
    const Helped helped;
    const auto computed = [](bool urgent, double load) {
        Helped::help->reluctant_load = load;
        Settings settings = with(2);
        settings.reluctant = true;
        Player f(settings, 1, 0, 0, std::make_shared<HelperPool>(std::make_shared<Priority>(urgent), true));
        f.go(300);
        return f.computed_ahead();
    };
    CHECK(computed(true, 0) > 0);
    CHECK(computed(false, 0) == 0);
    CHECK(computed(true, 1e9) == 0);
}

TEST_CASE("the bits stay where helpers are asked now and then") {
    const Helped helped;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        const auto play = [&](int threads) {
            Player f(with(threads), seed, 40, 5);
            Played all;
            uint64_t asked = 0, unasked = 0;
            for (int i = 0; i < 60; ++i) {
                const bool asks = i % 2;
                Helped::help->waking_load = asks ? 0 : 1e9;
                const Played first = f.play(1); // the new limit counts from its end on
                const uint64_t before = f.computed_ahead();
                const Played rest = f.play(1 + i % 5);
                (asks ? asked : unasked) += f.computed_ahead() - before;
                for (const Played* part : {&first, &rest})
                    all.sound.insert(all.sound.end(), part->sound.begin(), part->sound.end());
            }
            CHECK(unasked == 0);
            CHECK((threads == 1 || asked > 50));
            all.events = f.nodes;
            return all;
        };
        check_same(play, {2, 3});
    }
}

TEST_CASE("what is computed at the same time can be confined to parallel groups, or forbidden") {
    const Helped helped;
    struct Did {
        uint64_t ahead, pipelined;
    };
    const auto play = [](const char* parallel, bool in_group, Did& did) {
        Settings settings = with(2);
        settings.parallel = parallel;
        Player f(settings, 1, 0);
        f.clear();
        Tree& tree = f.engine->tree();
        Group* group;
        REQUIRE(tree.new_group(10, AddAction::tail, 0, group, in_group).ok());
        REQUIRE(tree.new_group(11, AddAction::tail, 10, group).ok());
        for (int i = 0; i < 64; ++i)
            f.add(adding_kinds, 11);
        for (int i = 0; i < 20; ++i)
            f.played.sound = f.render(8 * 64, 8 * 64);
        did = {f.computed_ahead(), f.pipelined()};
        return f.played.sound;
    };
    Did all, groups, no_groups, none;
    const auto alone = play("off", true, none);
    CHECK(none.ahead + none.pipelined == 0);
    CHECK(play("auto", false, all) == alone);
    CHECK(all.pipelined > 0);
    CHECK(play("groups", true, groups) == alone);
    CHECK(groups.ahead > 0);
    CHECK(groups.pipelined == 0);
    CHECK(play("groups", false, no_groups) == alone);
    CHECK(no_groups.ahead + no_groups.pipelined == 0);
}

TEST_CASE("lone voices are computed ahead, too") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        // Two of a kind are no batch.
        for (int id = 1000; id < 1000 + 2 * int(harmless_kinds); ++id)
            f.voice(*f.defs[size_t(id - 1000) / 2], id);
        f.go(20);
        const uint64_t before = f.computed_ahead();
        if (threads > 1)
            CHECK(before > 0);
        // One ends, one is paused and resumed, one is mapped to a bus, one becomes part of a batch, one is moved.
        set_named(tree, *tree.find_synth(1001), "gate", 0, 0.f);
        tree.runs().set_run(*tree.find_synth(1003), false);
        map_named(tree, *tree.find_synth(1006), "amp", 0, 1, false);
        f.voice(*f.defs[4], 2000, AddAction::after, 1009);
        (void)move_now(tree, *tree.find_synth(1011), AddAction::head, tree.root());
        f.go(10);
        tree.runs().set_run(*tree.find_synth(1003), true);
        f.go(10);
        CHECK(tree.find_synth(1001) == nullptr);
        CHECK(tree.find_synth(2000)->voice->batch);
        if (threads > 1)
            CHECK(f.computed_ahead() > before);
        return f.told();
    };
    check_same(play, {2, 3});
}

TEST_CASE("what comes after synths of plugins' units is computed ahead") {
    const Helped helped;
    for (const bool reads : {false, true}) {
        CAPTURE(reads);
        const auto play = [reads](int threads) {
            Player f(with(threads), 1, 0);
            Tree& tree = f.engine->tree();
            f.clear();
            for (int id = 1000; id < 1004; ++id)
                f.voice(reads && id % 2 ? "plugin-effect" : "sends-ends", id);
            for (int id = 2000; id < 2040; ++id)
                f.voice(reads && id % 4 == 3 ? "effect" : "saw", id);
            map_named(tree, *tree.find_synth(1002), "amp", 0, 2, false);
            f.go(20);
            const uint64_t before = f.computed_ahead();
            set_named(tree, *tree.find_synth(1000), "gate", 0, -1.02f); // one ends amid the next blocks
            f.go(60);
            CHECK(tree.find_synth(1000) == nullptr);
            if (threads > 1)
                CHECK(f.computed_ahead() > before);
            return f.told();
        };
        check_same(play, {2, 3});
    }
}

TEST_CASE("who is mapped to a bus hears what was on it before it is written") {
    const Helped helped;
    for (const char* mapped : {"stays", "gendy-stays"}) {
        CAPTURE(std::string(mapped));
        const auto play = [mapped](int threads) {
            Player f(with(threads), 1, 0);
            Tree& tree = f.engine->tree();
            f.clear();
            for (int id = 1000; id < 1030; ++id) {
                Synth& made = f.voice(id < 1010 ? mapped : id % 2 ? "listens" : "tells-stays", id);
                set_named(tree, made, "second", 0, float(id < 1010 ? 1 : 2 + (id - 1010) / 2));
                if (id < 1010)
                    map_named(tree, made, "amp", 0, 2 + id - 1000, false);
            }
            for (int i = 0; i < 200; ++i) {
                set_named(tree, *tree.find_synth(1010 + 2 * (i % 10)), "gate", 0, i % 3 ? 1.f : 0.f);
                f.go(1);
            }
            return f.told();
        };
        check_same(play, {2, 3});
    }
}

TEST_CASE("what comes into a paused group is not computed") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        Group* paused;
        REQUIRE(tree.new_group(20, AddAction::tail, 0, paused).ok());
        tree.runs().set_run(*paused, false);
        for (int id = 1000; id < 1000 + 2 * int(ahead_kinds); ++id) // two of a kind are no batch
            f.voice(*f.defs[size_t(id - 1000) / 2], id, AddAction::head);
        Group* whole;
        REQUIRE(tree.new_group(30, AddAction::head, 0, whole).ok());
        for (int id = 2000; id < 2016; ++id)
            f.voice("saw", id, AddAction::tail, 30);
        f.go(10);
        for (int i = 0; i < 100; ++i) {
            Synth* moved = tree.find_synth(1000 + i % (2 * int(ahead_kinds)));
            if (!moved)
                continue;
            for (Node* node : {static_cast<Node*>(moved), static_cast<Node*>(whole)}) {
                (void)move_now(tree, *node, AddAction::tail, *paused);
                f.go(2);
                (void)move_now(tree, *node, AddAction::head, tree.root());
                f.go(2);
            }
        }
        if (threads > 1)
            CHECK(f.computed_ahead() > 0);
        return f.told();
    };
    check_same(play, {2, 3});
}

TEST_CASE("voices that read buses are computed ahead once that is there") {
    const Helped helped;
    // They are soon done, so it may take some blocks until a helper comes in time.
    const auto play = [](int threads, int& blocks) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        Synth* made;
        REQUIRE(tree.new_synth(f.def_of_kind("steps"), nullptr, 1000, AddAction::tail, 0, made).ok());
        set_named(tree, *made, "out", 0, 4.f);
        for (int id = 1001; id < 1065; ++id) {
            REQUIRE(
                tree.new_synth(f.def_of_kind(id % 16 < 8 ? "sends" : "feeds"), nullptr, id, AddAction::tail, 0, made)
                    .ok());
            set_named(tree, *made, "second", 0, 4.f);
        }
        if (threads == 1)
            f.go(blocks);
        else
            for (blocks = 0; blocks < 300 || (f.computed_ahead() == 0 && blocks < 5000); ++blocks)
                f.go(1);
        if (threads > 1)
            CHECK(f.computed_ahead() > 0); // all read what the noise writes
        // Somebody comes in between, writes to what is read, goes again.
        for (int i = 0; i < 10; ++i) {
            REQUIRE(tree.new_synth(f.def_of_kind("faded"), nullptr, 2000, AddAction::before, 1003 + i % 9, made).ok());
            set_named(tree, *made, "out", 0, float(i % 5));
            f.go(3);
            tree.runs().set_run(*made, false);
            f.go(2);
            tree.runs().set_run(*made, true);
            f.go(2);
            tree.free(*made);
            f.go(2);
        }
        return std::move(f.played);
    };
    for (const int threads : {2, 3, 8}) {
        int blocks;
        const Played helped_by = play(threads, blocks), alone = play(1, blocks);
        CHECK(alone.sound != std::vector<float>(alone.sound.size()));
        CHECK(same(alone, helped_by));
    }
}

TEST_CASE("a voice whose bus follows a control bus may write to any, so nobody is computed before it who reads one") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        for (int id = 1000; id < 1033; ++id) {
            const char* kind = id < 1008 || id > 1024 ? "saw" : id == 1008 ? "faded" : "sends";
            set_named(tree, f.voice(kind, id), "second", 0, 5.f);
        }
        map_named(tree, *tree.find_synth(1008), "out", 0, 7, false);
        for (int block = 0; block < 300; ++block) {
            f.engine->buses().control()[7] = block / 3 % 2 ? 5.f : 4.f;
            f.go(1);
        }
        if (threads > 1)
            CHECK(f.computed_ahead() > 0);
        return std::move(f.played);
    };
    check_same(play, {2, 3});
}

TEST_CASE("what reads waits for who writes in a block in which nodes are new, too") {
    const Helped helped;
    SynthDef writer, reader;
    writer.name = "writer";
    writer.constants = {9.f};
    writer.controls = {1.f};
    writer.control_names = {{"value", 0}};
    writer.units = {unit("Control", Rate::control, {}, {Rate::control}),
                    unit("Out", Rate::control, {{-1, 0}, {0, 0}}, {})};
    // Ends when the bus falls to 0.
    reader.name = "reader";
    reader.constants = {9.f, 0.f, 1.f, 2.f};
    reader.units = {unit("In", Rate::control, {{-1, 0}}, {Rate::control}),
                    unit("Linen", Rate::control, {{0, 0}, {-1, 1}, {-1, 2}, {-1, 1}, {-1, 3}}, {Rate::control})};
    const auto left = [&](int threads) {
        Player f(with(threads), 1, 0);
        f.clear();
        Definition* reads = f.define(reader);
        CHECK((reads->code && reads->code->ahead && reads->code->reads));
        Synth& writes = f.voice(*f.define(writer), 1000);
        std::vector<int> counts;
        for (int i = 0; i < 20; ++i) {
            set_named(f.engine->tree(), writes, "value", 0, 1.f);
            Synth* made;
            for (int id = 2000; id < 2032; ++id)
                REQUIRE(f.engine->tree().new_synth(*reads, nullptr, id, AddAction::tail, 0, made).ok());
            f.go(20);
            set_named(f.engine->tree(), writes, "value", 0, 0.f);
            f.voice("saw", 3000 + i);
            for (int block = 0; block < 8; ++block) { // the release takes three
                f.go(1);
                counts.push_back(f.engine->tree().counts().synths());
            }
        }
        if (threads > 1)
            CHECK(f.computed_ahead() > 0);
        return counts;
    };
    const std::vector<int> alone = left(1);
    CHECK(alone[0] > alone[7]);
    CHECK(left(2) == alone);
    CHECK(left(3) == alone);
}

TEST_CASE("voices and their effects are computed one after the other, whatever changes between calm blocks") {
    const Helped helped;
    const auto play = [](int threads, unsigned seed) {
        Player f(with(threads, threads > 1), seed, 0, 12);
        Tree& tree = f.engine->tree();
        f.clear();
        Group* group;
        REQUIRE(tree.new_group(1, AddAction::tail, 0, group).ok());
        const auto add = [&](std::string_view name, int32_t id, int track, AddAction action, int32_t target) {
            Synth* made;
            if (tree.new_synth(f.def_of_kind(name), nullptr, id, action, target, made).failed())
                return;
            tree.controls().set(*made, 0, 50.f + float(id % 900));
            set_named(tree, *made, "out", 0, name == "sends" ? float(track % 2) : float(4 + track));
            set_named(tree, *made, "second", 0, float(4 + track));
        };
        constexpr int tracks = 6, each = 8;
        const char* const names[each] = {"saw", "saw", "pink", "listens", "effect", "effect", "two", "sends"};
        for (int track = 0; track < tracks; ++track)
            for (int i = 0; i < each; ++i)
                add(names[i], 1000 + 10 * track + i, track, AddAction::tail, 1);
        f.go(20);
        for (int change = 0; change < 40; ++change) {
            const int track = f.pick(tracks), i = f.pick(each);
            const int32_t id = 1000 + 10 * track + i;
            Synth* synth = tree.find_synth(id);
            switch (synth ? f.pick(8) : 7) {
            case 0: set_named(tree, *synth, "out", 0, float(f.pick(10))); break;
            case 1: set_named(tree, *synth, "second", 0, float(f.pick(10))); break;
            case 2: set_named(tree, *synth, "out", 0, i == each - 1 ? float(track % 2) : float(4 + track)); break;
            case 3: tree.runs().set_run(*synth, synth->run != Run::on); break;
            case 4: set_named(tree, *synth, "gate", 0, 0.f); break;
            case 5: map_named(tree, *synth, f.pick(2) ? "out" : "amp", 0, f.pick(3) - 1, false); break;
            case 6: (void)move_now(tree, *synth, AddAction(f.pick(2)), *group); break;
            default:
                add(names[i], id, track, tree.find(id - 1) ? AddAction::after : AddAction::tail,
                    tree.find(id - 1) ? id - 1 : 1);
            }
            f.go(1 + f.pick(12));
        }
        if (threads > 1)
            CHECK(f.computed_ahead() > 300);
        return f.told();
    };
    for (unsigned seed = 2; seed <= 7; ++seed) {
        CAPTURE(seed);
        check_same([&](int threads) { return play(threads, seed); }, {2, 3, 8});
    }
}

TEST_CASE("no voice is one with its track's if it reads what it and others write") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        // Bus 40 goes through all tracks, so it makes them no strand; each track's own bus does.
        for (int track = 0; track < 4; ++track) {
            const struct {
                const char* kind;
                int out, second;
            } voices[] = {
                {"two", 4 + track, 40}, {"sends", 4 + track, 40}, {"effect", 4 + track, 0}, {"sends", 0, 4 + track}};
            for (const auto& [kind, out, second] : voices) {
                Synth* made;
                const int32_t id = 1000 + int32_t(tree.counts().synths());
                REQUIRE(tree.new_synth(f.def_of_kind(kind), nullptr, id, AddAction::tail, 0, made).ok());
                tree.controls().set(*made, 0, 100.f + float(id % 100));
                set_named(tree, *made, "out", 0, float(out));
                set_named(tree, *made, "second", 0, float(second));
            }
        }
        f.go(200);
        return std::move(f.played);
    };
    check_same(play, {2, 3});
}

TEST_CASE("noise is computed ahead, from where the generator will be") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        for (int id = 1000; id < 1064; ++id)
            f.voice(id % 16 < 8 ? "hiss" : id % 16 < 12 ? "pink" : "rain", id);
        f.go(100);
        const uint64_t before = f.computed_ahead();
        if (threads > 1)
            CHECK(before > 0); // there is nothing else
        // After this one it isn't known where it is.
        f.voice("steps", 2000, AddAction::after, 1020);
        f.go(100);
        tree.runs().set_run(*tree.find_synth(2000), false);
        f.go(100);
        tree.runs().set_run(*tree.find_synth(2000), true);
        set_named(tree, *tree.find_synth(1003), "gate", 0, 0.f);
        map_named(tree, *tree.find_synth(1009), "amp", 0, 1, false);
        f.go(100);
        return std::move(f.played);
    };
    check_same(play, {2, 3});
}

TEST_CASE("buses that begin to overlap are added to voice by voice") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        for (int id = 1000; id < 1032; ++id)
            f.voice(*f.defs[4], id);
        f.go(20);
        for (int id = 1000; id < 1032; ++id)
            set_named(tree, *tree.find_synth(id), "second", 0, 0.f);
        f.go(2);
        if (threads > 1)
            CHECK(f.computed_ahead() > 0);
        return std::move(f.played);
    };
    check_same(play, {2});
}

TEST_CASE("blocks that are cut end in time, and who is to end ends") {
    const Helped helped;
    for (const int threads : {1, 2, 3}) {
        CAPTURE(threads);
        Settings settings = with(threads);
        settings.overload = "none"; // the more a walk waits for helpers, the more often it reads this clock
        Player f(settings, 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        // Reading the clock takes a microsecond, so the deadline comes at any place in a block.
        static int64_t now;
        now = 0;
        f.engine->set_clock({[](void*) { return now += 1000; }});
        Synth* made;
        for (int id = 1000; id < 1200; ++id)
            REQUIRE(tree.new_synth(*f.defs[0], nullptr, id, AddAction::tail, 0, made).ok());
        f.go(20);
        const uint64_t before = f.engine->status().cuts;
        float part[2][64], *out[] = {part[0], part[1]};
        const float* in[] = {nullptr, nullptr};
        for (int i = 0; i < 200; ++i) {
            // From the last one on, as it is the last ones that a cut leaves out.
            set_named(tree, *tree.find_synth(1199 - i), "gate", 0, 0.f);
            f.engine->process(64, ntp_advance(f.start, f.position += 64, 48000), 48000, in, out,
                              {.deadline = f.pick(3) ? Deadline::never : now + 1000 * (10 + f.pick(50))});
        }
        CHECK(f.engine->status().cuts > before);
        CHECK(f.engine->status().cuts < before + 100);
        f.go(50);
        CHECK(tree.counts().synths() == 0);
    }
}

TEST_CASE("one thread computes nothing ahead, nor do voices that aren't batched") {
    const Helped helped;
    for (const Settings& settings : {with(1), with(2, false)}) {
        Player f(settings, 3, 0);
        f.play(50);
        CHECK(f.computed_ahead() == 0);
    }
}

TEST_CASE("threads out of range are refused") {
    for (const int threads : {-1, 65}) {
        Settings settings;
        settings.threads = threads;
        CHECK_FALSE(Engine::create(settings, [](const std::string&) {}));
    }
}

TEST_CASE("offline, too, and whatever the instruction set") {
    const Helped helped;
    for (const char* simd : {"sse2", "auto"}) {
        const auto play = [&](int threads) {
            Settings settings = with(threads);
            settings.simd = simd;
            settings.real_time = false;
            return Player(settings, 5, 0).play(100);
        };
        check_same(play, {3});
    }
}

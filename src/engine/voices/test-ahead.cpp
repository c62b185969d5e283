// SPDX-License-Identifier: GPL-3.0-or-later
// Helper threads change no bit and no event, whatever happens to the tree while they compute.
#include "engine/test-support.hpp"

#include "engine/plugins/plugin-world.hpp"
#include "engine/schedule/cores.hpp"
#include "engine/voices/ahead.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>
#include <tuple>

using namespace scs;
using namespace scs::test;

namespace {

std::atomic<int> helped_often{0};
std::thread::id walking;

/// Helpers wait at random. So does the walk at its start, until they have done something, however busy the machine is,
/// and now and then behind what others wait for.
void delay_at_random(Helpers::Moment moment) noexcept {
    thread_local std::minstd_rand random(unsigned(reinterpret_cast<uintptr_t>(&random) >> 4));
    const unsigned r = unsigned(random());
    if (std::this_thread::get_id() != walking) {
        ++helped_often;
        if (r % 8 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(r / 8 % 30));
        return;
    }
    if (moment == Helpers::Moment::gate) {
        if (r % 512 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        return;
    }
    const int enough = helped_often + int(r % 40);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (helped_often < enough && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

/// Helpers always have something to do, and do it at any moment.
struct Helped {
    Helped() {
        walking = std::this_thread::get_id();
        Helpers::delay = delay_at_random;
        Ahead::limits = {.waking_load = 0, .longest_wait = INT64_MAX, .fewest_ops = 1, .least_work = 1};
    }
    ~Helped() {
        Helpers::delay = nullptr;
        Ahead::limits = {};
    }
};

Settings with(int threads, bool batching = true) {
    Settings settings;
    settings.threads = threads;
    settings.batching = batching;
    settings.simd = "sse2"; // four lanes on every x86-64
    settings.rt_memory_kib = 65536;
    return settings;
}

/// What the SynthDefs of these tests do beside sounding.
struct Kind {
    const char* name;
    float done = 2.f;              ///< the envelope's done action
    const char* source = "VarSaw"; ///< what sounds
    const char* out = "Out";       ///< where to
    bool plugin = false;           ///< a unit of a plugin is in it
    bool second = false;           ///< adds to a second bus, which a control says
    bool early = false;            ///< adds to the bus first, and computes more afterwards
    bool asked = false;            ///< the done action is a control
    bool reads_second = false;     ///< a source that reads a bus reads the second one
    bool tells = false;            ///< writes its envelope to the control bus of the second one's number
    bool listens = false;          ///< is as loud as that control bus says
    bool by_wire = false;          ///< the number of its bus is computed
    bool rereads = false;          ///< reads its bus when it has written to it
};

/// A source with an envelope on bus `out`. Controls: freq, amp, gate, out, second, action.
SynthDef def_of(const Kind& kind) {
    SynthDef def;
    def.name = kind.name;
    def.constants = {0.f, 0.3f, 0.002f, 1.f, kind.done, 1.9f};
    def.controls = {440.f, 0.125f, 1.f, 0.f, 1.f, 2.f};
    def.control_names = {{"freq", 0}, {"amp", 1}, {"gate", 2}, {"out", 3}, {"second", 4}, {"action", 5}};
    const std::string source = kind.source;
    std::vector<InputRef> inputs = {{0, 0}, {-1, 0}, {-1, 1}};
    if (source == "WhiteNoise" || source == "PinkNoise")
        inputs.clear();
    else if (source == "Dust" || source == "LFNoise0")
        inputs = {{0, 0}};
    else if (source == "In" || source == "InFeedback")
        inputs = {{0, kind.reads_second ? 4u : 3u}};
    def.units = {
        unit("Control", Rate::control, {}, std::vector<Rate>(6, Rate::control)),
        unit(kind.source, Rate::audio, inputs, {Rate::audio}),
        unit("BinaryOpUGen", Rate::audio, {{1, 0}, {0, 1}}, {Rate::audio}, 2),
        unit("Linen", Rate::control, {{0, 2}, {-1, 2}, {-1, 3}, {-1, 2}, kind.asked ? InputRef{0, 5} : InputRef{-1, 4}},
             {Rate::control}),
        unit("BinaryOpUGen", Rate::audio, {{2, 0}, {3, 0}}, {Rate::audio}, 2),
    };
    if (kind.listens) {
        def.units.push_back(unit("In", Rate::control, {{0, 4}}, {Rate::control}));
        def.units.push_back(unit("BinaryOpUGen", Rate::audio, {{4, 0}, {5, 0}}, {Rate::audio}, 2));
    }
    InputRef sound{int32_t(def.units.size()) - 1, 0}, bus{0, 3};
    if (kind.by_wire) {
        bus = {int32_t(def.units.size()), 0};
        def.units.push_back(unit("BinaryOpUGen", Rate::control, {{0, 3}, {-1, 3}}, {Rate::control}, 2));
    }
    if (std::string(kind.out) == "XOut")
        def.units.push_back(unit("XOut", Rate::audio, {bus, {3, 0}, sound}, {}));
    else
        def.units.push_back(unit(kind.out, Rate::audio, {bus, sound}, {}));
    if (kind.tells)
        def.units.push_back(unit("Out", Rate::control, {{0, 4}, {3, 0}}, {}));
    if (kind.early) {
        const auto first = int32_t(def.units.size());
        def.units.push_back(unit("VarSaw", Rate::audio, {{0, 0}, {-1, 0}, {-1, 1}}, {Rate::audio}));
        def.units.push_back(unit("BinaryOpUGen", Rate::audio, {{first, 0}, {3, 0}}, {Rate::audio}, 2));
        def.units.push_back(unit("Out", Rate::audio, {{0, 4}, {first + 1, 0}}, {}));
    }
    if (kind.rereads) {
        def.units.push_back(unit("In", Rate::audio, {bus}, {Rate::audio}));
        def.units.push_back(unit("Out", Rate::audio, {{0, 4}, {int32_t(def.units.size()) - 1, 0}}, {}));
    }
    if (kind.second)
        def.units.push_back(unit("Out", Rate::audio, {{0, 4}, {2, 0}}, {}));
    if (kind.plugin) {
        const auto cusp = int32_t(def.units.size());
        def.units.push_back(unit("CuspN", Rate::audio, {{0, 0}, {-1, 3}, {-1, 5}, {-1, 0}}, {Rate::audio}));
        def.units.push_back(unit("Out", Rate::audio, {{0, 3}, {cusp, 0}}, {}));
    }
    return def;
}

const Kind kinds[] = {
    // Computed ahead, and so most of the voices.
    {.name = "saw"},
    {.name = "stays", .done = 0},
    {.name = "pauses", .done = 1},
    {.name = "moved", .out = "OffsetOut"},
    {.name = "two", .second = true},
    {.name = "early", .early = true},
    {.name = "wired", .by_wire = true},
    {.name = "tells", .tells = true},
    {.name = "faded", .out = "XOut"},
    // The same, with the random numbers of their turns.
    {.name = "hiss", .source = "WhiteNoise"},
    {.name = "rain", .source = "Dust"},
    {.name = "pink", .source = "PinkNoise", .second = true},
    // The same, once that is there which they read.
    {.name = "effect", .source = "In", .out = "ReplaceOut"},
    {.name = "sends", .source = "In", .reads_second = true},
    {.name = "feeds", .source = "InFeedback", .out = "XOut", .reads_second = true},
    {.name = "listens", .listens = true},
    // Not computed ahead, but in between.
    {.name = "steps", .source = "LFNoise0"}, // it can't be known how many numbers it draws
    {.name = "rereads", .rereads = true},
    // Nothing behind these is computed ahead.
    {.name = "asked", .asked = true},
    {.name = "plugin", .plugin = true},
    {.name = "before", .done = 3},
    {.name = "after", .done = 4},
    {.name = "empties-before", .done = 5},
    {.name = "empties-after", .done = 6},
    {.name = "up-to", .done = 7},
    {.name = "from", .done = 8},
    {.name = "pauses-before", .done = 9},
    {.name = "pauses-after", .done = 10},
    {.name = "deep-before", .done = 11},
    {.name = "deep-after", .done = 12},
    {.name = "all", .done = 13},
    {.name = "group", .done = 14},
    {.name = "resumes", .done = 15},
};
constexpr size_t ahead_kinds = 16, harmless_kinds = 18;
constexpr size_t adding_kinds = 6; // of these

/// What a test hears and is told.
struct Played {
    std::vector<float> sound;
    std::vector<NodeEvent> events;
};

/// Without the bytes between its members.
auto members(const NodeEvent& event) {
    return std::tie(event.change, event.is_group, event.id, event.parent, event.previous, event.next, event.head,
                    event.tail);
}

bool same(const Played& a, const Played& b) {
    return a.sound.size() == b.sound.size() &&
           (a.sound.empty() || std::memcmp(a.sound.data(), b.sound.data(), a.sound.size() * sizeof(float)) == 0) &&
           std::equal(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(),
                      [](const NodeEvent& x, const NodeEvent& y) { return members(x) == members(y); });
}

/// Plays what a seed says. `barriers`: one in so many new voices reaches beyond itself; 0: none. `buses`: how many are
/// played to; 0: two, most voices to one.
struct Player : Fixture {
    Player(const Settings& settings, unsigned seed, int one_in, int spread = 0,
           std::shared_ptr<ThreadMaker> threads = {})
        : Fixture(settings, {}, std::move(threads)), random(seed), barriers(one_in), buses(spread) {
        for (const Kind& kind : kinds)
            defs.push_back(define(def_of(kind)));
        *engine->world().random() = {1234, 5678, 9012};
        Tree& tree = engine->tree();
        for (const int32_t id : {1, 2, 3}) {
            Group* made;
            REQUIRE(tree.new_group(id, AddAction::tail, id == 3 ? 2 : 0, made).ok());
        }
        for (int i = 0; i < 96; ++i)
            add(buses ? ahead_kinds : adding_kinds, i / 32 + 1);
    }

    int pick(int count) { return int(random() % unsigned(count)); }
    Definition& def_of_kind(std::string_view name) const {
        return **std::find_if(defs.begin(), defs.end(), [&](Definition* def) { return def->program->name == name; });
    }
    void clear() { (void)engine->tree().free_all_in_time(engine->tree().root()); }
    Node* any() {
        for (int tries = 0; tries < 40; ++tries)
            if (Node* node = engine->tree().find(pick(4) ? 100 + pick(next - 100) : 1 + pick(3)))
                return node;
        return nullptr;
    }
    Synth* any_synth() {
        Node* node = any();
        return node && !node->is_group ? static_cast<Synth*>(node) : nullptr;
    }
    void add(size_t count, int32_t target, AddAction action = AddAction::tail) {
        Tree& tree = engine->tree();
        // Those of a kind come in a row, so that they are batched.
        if (run_left-- == 0) {
            kind = size_t(pick(int(count)));
            if (barriers && pick(barriers) == 0)
                kind = harmless_kinds + size_t(pick(int(std::size(kinds) - harmless_kinds)));
            run_left = kind < adding_kinds ? 5 + pick(12) : kind < ahead_kinds ? pick(4) : 0;
        }
        Synth* made;
        if (!tree.find(target) || tree.new_synth(*defs[kind], nullptr, next++, action, target, made).failed())
            return;
        tree.set_control(*made, 0, 50.f + float(pick(900)));
        set_named(tree, *made, "out", 0, float(buses ? pick(buses) : pick(8) / 7));
        set_named(tree, *made, "second", 0, float(pick(buses ? buses : 2)));
        set_named(tree, *made, "action", 0, float(pick(16)));
    }
    void act() {
        Tree& tree = engine->tree();
        const int what = pick(17);
        Synth* synth = any_synth();
        Node* node = any();
        if (what < 6 || !synth || !node)
            return add(harmless_kinds, 1 + pick(3));
        switch (what) {
        case 6:
        case 7: set_named(tree, *synth, "gate", 0, 0.f); break;
        case 8: tree.free(*synth); break;
        case 9: tree.set_run(*node, pick(2)); break;
        case 10: tree.set_run(*node, true); break;
        case 11: set_named(tree, *synth, "amp", 0, float(pick(9)) / 16.f); break;
        case 12: map_named(tree, *synth, "amp", 0, pick(3) - 1, pick(2)); break;
        case 13:
            set_named(tree, *synth, pick(2) ? "out" : "second", 0, float(buses ? pick(buses) : pick(3)) / 2);
            break;
        case 14:
            if (Node* at = nullptr; pick(4) == 0)
                (void)tree.trace(*synth, at);
            break;
        case 15: { // in a row, too, and of groups
            const AddAction relation = pick(3) ? AddAction::succeeding : AddAction::preceding;
            for (int n = pick(12); n > 0; --n)
                add(harmless_kinds, node->id, relation);
            break;
        }
        default:
            if (synth != node)
                (void)move_now(tree, pick(3) ? *synth : *node, AddAction(node->is_group ? pick(4) : 2 + pick(2)),
                               *node);
        }
    }
    void keep_groups() {
        Tree& tree = engine->tree();
        for (const int32_t id : {1, 2, 3})
            if (Group * made; !tree.find(id))
                (void)tree.new_group(id, AddAction::tail, 0, made);
            else if (Node& group = *tree.find(id); group.run == Run::off)
                tree.set_run(group, pick(4) == 0);
    }
    void go(int blocks) {
        const auto part = render(blocks * 64);
        played.sound.insert(played.sound.end(), part.begin(), part.end());
    }
    Played play(int blocks) {
        for (int i = 0; i < blocks; ++i) {
            if (pick(2) == 0)
                for (int n = pick(4); n > 0; --n)
                    act();
            keep_groups();
            if (engine->tree().synth_count() < 60)
                for (int n = 0; n < 40; ++n)
                    add(harmless_kinds, 1 + pick(3));
            while (engine->tree().synth_count() > 160)
                if (Synth* synth = any_synth())
                    engine->tree().free(*synth);
            go(1);
        }
        played.events = nodes;
        return std::move(played);
    }
    uint64_t computed_ahead() const { return engine->status().computed_ahead; }

    std::mt19937 random;
    int barriers, buses;
    std::vector<Definition*> defs;
    int next = 100, run_left = 0;
    size_t kind = 0;
    Played played;
};

/// Plain threads that say that they have a priority, or none.
class Priority final : public ThreadMaker {
public:
    explicit Priority(bool urgent) : urgent_(urgent) {}
    void* start(void* (*body)(void*), void* argument) override { return plain_->start(body, argument); }
    void join(void* thread) noexcept override { plain_->join(thread); }
    bool urgent() const noexcept override { return urgent_; }

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
        CHECK((code && code->acts_on_itself) == (i < harmless_kinds));
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
                        tree.set_run(*made, false);
                    f.go(after);
                    if (way == Way::resumed)
                        tree.set_run(*made, true);
                    if (Synth* there = tree.find_synth(2000); there && way == Way::moved)
                        REQUIRE(move_now(tree, *there, AddAction::head, tree.root()).ok());
                    f.go(10);
                    if (way != Way::moved || after < 2) // later it ends before it is moved
                        CHECK(group->run == Run::off);
                    tree.set_run(*group, true);
                    f.go(10);
                    f.played.events = f.nodes;
                    computed += way == Way::moved ? f.computed_ahead() : 0;
                    return std::move(f.played);
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
        Ahead::limits.reluctant_load = load;
        Settings settings = with(2);
        settings.reluctant = true;
        Player f(settings, 1, 0, 0, std::make_shared<Priority>(urgent));
        f.go(300);
        return f.computed_ahead();
    };
    CHECK(computed(true, 0) > 0);
    CHECK(computed(false, 0) == 0);
    CHECK(computed(true, 1e9) == 0);
}

TEST_CASE("lone voices are computed ahead, too") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        // Two of a kind are no batch.
        Synth* made;
        for (int id = 1000; id < 1000 + 2 * int(harmless_kinds); ++id) {
            REQUIRE(tree.new_synth(*f.defs[size_t(id - 1000) / 2], nullptr, id, AddAction::tail, 0, made).ok());
            tree.set_control(*made, 0, 100.f + float(id));
        }
        f.go(20);
        const uint64_t before = f.computed_ahead();
        if (threads > 1)
            CHECK(before > 0);
        // One ends, one is paused and resumed, one is mapped to a bus, one becomes part of a batch, one is moved.
        set_named(tree, *tree.find_synth(1001), "gate", 0, 0.f);
        tree.set_run(*tree.find_synth(1003), false);
        map_named(tree, *tree.find_synth(1006), "amp", 0, 1, false);
        REQUIRE(tree.new_synth(*f.defs[4], nullptr, 2000, AddAction::after, 1009, made).ok());
        (void)move_now(tree, *tree.find_synth(1011), AddAction::head, tree.root());
        f.go(10);
        tree.set_run(*tree.find_synth(1003), true);
        f.go(10);
        CHECK(tree.find_synth(1001) == nullptr);
        CHECK(tree.find_synth(2000)->voice->batch);
        if (threads > 1)
            CHECK(f.computed_ahead() > before);
        f.played.events = f.nodes;
        return std::move(f.played);
    };
    const Played alone = play(1);
    for (const int threads : {2, 3})
        CHECK(same(alone, play(threads)));
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
            tree.set_run(*made, false);
            f.go(2);
            tree.set_run(*made, true);
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

TEST_CASE("voices and their effects are computed one behind the other, whatever changes between calm blocks") {
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
            tree.set_control(*made, 0, 50.f + float(id % 900));
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
            case 3: tree.set_run(*synth, synth->run != Run::on); break;
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
        f.played.events = f.nodes;
        return std::move(f.played);
    };
    for (unsigned seed = 2; seed <= 7; ++seed) {
        CAPTURE(seed);
        const Played alone = play(1, seed);
        CHECK(alone.sound != std::vector<float>(alone.sound.size()));
        for (const int threads : {2, 3, 8}) {
            CAPTURE(threads);
            CHECK(same(alone, play(threads, seed)));
        }
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
                const int32_t id = 1000 + int32_t(tree.synth_count());
                REQUIRE(tree.new_synth(f.def_of_kind(kind), nullptr, id, AddAction::tail, 0, made).ok());
                tree.set_control(*made, 0, 100.f + float(id % 100));
                set_named(tree, *made, "out", 0, float(out));
                set_named(tree, *made, "second", 0, float(second));
            }
        }
        f.go(200);
        return std::move(f.played);
    };
    const Played alone = play(1);
    CHECK(alone.sound != std::vector<float>(alone.sound.size()));
    for (const int threads : {2, 3})
        CHECK(same(alone, play(threads)));
}

TEST_CASE("noise is computed ahead, from where the generator will be") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        const auto add = [&](const char* kind, int32_t id, AddAction action, int32_t target) {
            Synth* made;
            REQUIRE(tree.new_synth(f.def_of_kind(kind), nullptr, id, action, target, made).ok());
            tree.set_control(*made, 0, 100.f + float(id));
        };
        for (int id = 1000; id < 1064; ++id)
            add(id % 16 < 8 ? "hiss" : id % 16 < 12 ? "pink" : "rain", id, AddAction::tail, 0);
        f.go(100);
        const uint64_t before = f.computed_ahead();
        if (threads > 1)
            CHECK(before > 0); // there is nothing else
        // Behind this one nobody knows where it is.
        add("steps", 2000, AddAction::after, 1020);
        f.go(100);
        tree.set_run(*tree.find_synth(2000), false);
        f.go(100);
        tree.set_run(*tree.find_synth(2000), true);
        set_named(tree, *tree.find_synth(1003), "gate", 0, 0.f);
        map_named(tree, *tree.find_synth(1009), "amp", 0, 1, false);
        f.go(100);
        return std::move(f.played);
    };
    const Played alone = play(1);
    CHECK(alone.sound != std::vector<float>(alone.sound.size()));
    for (const int threads : {2, 3})
        CHECK(same(alone, play(threads)));
}

TEST_CASE("a generator jumps to where as many draws would take it") {
    const RandomJump jump;
    RandomState at{123, 456, 789};
    for (uint32_t draws : {0u, 1u, 2u, 64u, 65u, 128u, 1000u, 65536u, 100'001u}) {
        CAPTURE(draws);
        RandomState one_by_one = at;
        for (uint32_t i = 0; i < draws; ++i)
            one_by_one = one_by_one.next();
        at = jump(at, draws);
        CHECK(std::tie(at.s1, at.s2, at.s3) == std::tie(one_by_one.s1, one_by_one.s2, one_by_one.s3));
    }
}

TEST_CASE("buses that begin to overlap are added to voice by voice") {
    const Helped helped;
    const auto play = [](int threads) {
        Player f(with(threads), 1, 0);
        Tree& tree = f.engine->tree();
        f.clear();
        Synth* made;
        for (int id = 1000; id < 1032; ++id) {
            REQUIRE(tree.new_synth(*f.defs[4], nullptr, id, AddAction::tail, 0, made).ok());
            tree.set_control(*made, 0, 100.f + float(id));
        }
        f.go(20);
        for (int id = 1000; id < 1032; ++id)
            set_named(tree, *tree.find_synth(id), "second", 0, 0.f);
        f.go(2);
        if (threads > 1)
            CHECK(f.computed_ahead() > 0);
        return std::move(f.played);
    };
    CHECK(same(play(1), play(2)));
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
        CHECK(tree.synth_count() == 0);
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
        CHECK(same(play(1), play(3)));
    }
}

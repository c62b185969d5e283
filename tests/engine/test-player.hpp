// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random trees of synths that do all that matters to what is computed ahead, and a player for them.

#include "test-support.hpp"

#include "engine/parallel/ahead.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/schedule/help-policy.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace scs::test {

inline std::atomic<int> helped_often{0};
inline std::thread::id walking;

/// Helpers wait at random. So does the walk at its start, until they have done something, however busy the machine is,
/// and now and then behind what others wait for.
inline void delay_at_random(HelpPolicy::Moment moment) noexcept {
    thread_local std::minstd_rand random(unsigned(reinterpret_cast<uintptr_t>(&random) >> 4));
    const unsigned r = unsigned(random());
    if (std::this_thread::get_id() != walking) {
        ++helped_often;
        if (r % 8 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(r / 8 % 30));
        return;
    }
    if (moment == HelpPolicy::Moment::gate) {
        if (r % 512 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        return;
    }
    const int enough = helped_often + int(r % 40);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (helped_often < enough && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

/// Helpers always have something to do, and do it at any moment. There are more of them than processors, so one may
/// have none for long.
struct Helped {
    Helped() {
        walking = std::this_thread::get_id();
        policies.push_back({.waking_load = 0,
                            .longest_wait = INT64_MAX,
                            .longest_hang = 60'000'000'000,
                            .fewest_ops = 1,
                            .least_work = 1,
                            .least_at_once = 1,
                            .at = delay_at_random});
        help = &policies.back();
    }
    ~Helped() { help = nullptr; }
    Helped(const Helped&) = delete;

    /// That of the settings made meanwhile.
    static inline HelpPolicy* help = nullptr;

private:
    static inline std::deque<HelpPolicy> policies; ///< never freed: a helper that was left behind may still read one
};

inline Settings with(int threads, bool batching = true) {
    Settings settings;
    settings.threads = threads;
    settings.batching = batching;
    settings.simd = "sse2"; // four lanes on every x86-64
    settings.rt_memory_kib = 65536;
    settings.help = Helped::help;
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
    bool loud = false;             ///< the envelope ends it, but isn't heard
    bool frees = false;            ///< a unit without a done action ends it when its gate closes
    bool writes = false;           ///< its source into buffer 0, a frame a sample
    bool sends = false;            ///< sends a message at the beginning of each period
    bool fast = false;             ///< at twice the server's rate
};

/// A source with an envelope on bus `out`. Controls: freq, amp, gate, out, second, action.
inline SynthDef def_of(const Kind& kind) {
    SynthDef def;
    def.name = kind.name;
    if (kind.fast)
        def.own_rate.resample = 2.f;
    def.constants = {0.f, 0.3f, 0.002f, 1.f, kind.done, 1.9f, 12.f, 48000.f};
    def.controls = {440.f, 0.125f, 1.f, 0.f, 1.f, 2.f};
    def.control_names = {{"freq", 0}, {"amp", 1}, {"gate", 2}, {"out", 3}, {"second", 4}, {"action", 5}};
    const std::string source = kind.source;
    std::vector<InputRef> inputs = {{0, 0}, {-1, 0}, {-1, 1}};
    if (source == "WhiteNoise" || source == "PinkNoise")
        inputs.clear();
    else if (source == "Dust" || source == "LFNoise0")
        inputs = {{0, 0}};
    else if (source == "Gendy1")
        inputs = {{-1, 3}, {-1, 3}, {-1, 3}, {-1, 3}, {0, 0}, {0, 0}, {-1, 1}, {-1, 1}, {-1, 6}, {-1, 6}};
    else if (source == "PlayBuf")
        inputs = {{-1, 0}, {-1, 5}, {-1, 3}, {-1, 0}, {-1, 3}, {-1, 0}};
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
    InputRef sound{kind.loud ? 2 : int32_t(def.units.size()) - 1, 0}, bus{0, 3};
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
    if (kind.frees) {
        const auto closed = int32_t(def.units.size());
        def.units.push_back(unit("BinaryOpUGen", Rate::control, {{-1, 3}, {0, 2}}, {Rate::control}, 1));
        def.units.push_back(unit("FreeSelf", Rate::control, {{closed, 0}}, {Rate::control}));
    }
    if (kind.sends) {
        const auto beat = int32_t(def.units.size());
        def.units.push_back(unit("Impulse", Rate::control, {{0, 0}, {-1, 0}}, {Rate::control}));
        def.units.push_back(unit("SendTrig", Rate::control, {{beat, 0}, {-1, 0}, {3, 0}}, {}));
    }
    if (kind.writes) {
        const auto at = int32_t(def.units.size());
        def.units.push_back(unit("Sweep", Rate::audio, {{-1, 0}, {-1, 7}}, {Rate::audio}));
        def.units.push_back(unit("BufWr", Rate::audio, {{-1, 0}, {at, 0}, {-1, 3}, {2, 0}}, {Rate::audio}));
    }
    return def;
}

inline const Kind kinds[] = {
    // Computed ahead, and so most of the voices.
    {.name = "saw"},
    {.name = "stays", .done = 0},
    {.name = "pauses", .done = 1},
    {.name = "moved", .out = "OffsetOut"},
    {.name = "two", .second = true},
    {.name = "early", .early = true},
    {.name = "wired", .by_wire = true},
    {.name = "tells", .tells = true},
    {.name = "tells-stays", .done = 0, .tells = true},
    {.name = "faded", .out = "XOut"},
    // The same, with the random numbers of their turns.
    {.name = "hiss", .source = "WhiteNoise"},
    {.name = "rain", .source = "Dust"},
    {.name = "pink", .source = "PinkNoise", .second = true},
    {.name = "hiss-stays", .done = 0, .source = "WhiteNoise"},
    {.name = "loud", .loud = true},
    {.name = "loud-moved", .out = "OffsetOut", .loud = true},
    {.name = "hiss-frees", .done = 0, .source = "WhiteNoise", .frees = true},
    {.name = "plays", .done = 0, .source = "PlayBuf"},
    // The same, once that is there which they read.
    {.name = "effect", .source = "In", .out = "ReplaceOut"},
    {.name = "sends", .source = "In", .reads_second = true},
    {.name = "feeds", .source = "InFeedback", .out = "XOut", .reads_second = true},
    {.name = "listens", .listens = true},
    // Not computed ahead, but in between.
    {.name = "fast", .fast = true},
    {.name = "fast-stays", .done = 0, .second = true, .fast = true},
    {.name = "fast-moved", .out = "OffsetOut", .loud = true, .fast = true},
    {.name = "fast-effect", .source = "In", .out = "XOut", .fast = true},
    {.name = "steps", .source = "LFNoise0"}, // it can't be known how many numbers it draws
    {.name = "rereads", .rereads = true},
    {.name = "plugin", .plugin = true},
    {.name = "gendy", .source = "Gendy1"}, // draws random numbers
    {.name = "gendy-stays", .done = 0, .source = "Gendy1"},
    {.name = "sends-stays", .done = 0, .sends = true},
    {.name = "sends-ends", .sends = true},
    {.name = "plugin-effect", .source = "In", .out = "ReplaceOut", .plugin = true},
    {.name = "plugin-listens", .plugin = true, .listens = true},
    {.name = "plugin-moved", .out = "OffsetOut", .plugin = true, .loud = true},
    {.name = "writes", .done = 0, .writes = true},
    // Nothing after these is computed ahead.
    {.name = "asked", .asked = true},
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
    {.name = "plugin-before", .done = 3, .plugin = true},
    {.name = "all", .done = 13},
    {.name = "group", .done = 14},
    {.name = "resumes", .done = 15},
};
inline constexpr size_t ahead_kinds = 22, harmless_kinds = 37;
inline constexpr size_t adding_kinds = 6; // of these

/// What a test hears and is told.
struct Played {
    std::vector<float> sound;
    std::vector<NodeEvent> events;
    std::vector<Fixture::Trigger> triggers;
    std::string printed;
};

/// Without the bytes between its members.
inline auto members(const NodeEvent& event) {
    return std::tie(event.change, event.is_group, event.id, event.parent, event.previous, event.next, event.head,
                    event.tail);
}

inline bool same(const Played& a, const Played& b) {
    return a.sound.size() == b.sound.size() &&
           (a.sound.empty() || std::memcmp(a.sound.data(), b.sound.data(), a.sound.size() * sizeof(float)) == 0) &&
           a.triggers == b.triggers && a.printed == b.printed &&
           std::equal(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(),
                      [](const NodeEvent& x, const NodeEvent& y) { return members(x) == members(y); });
}

/// Plays what a seed says. `barriers`: one in that many new voices reaches beyond itself; 0: none. `buses`: how many
/// are played to; 0: two, most voices to one.
struct Player : Fixture {
    Player(const Settings& settings, unsigned seed, int one_in, int spread = 0,
           std::shared_ptr<HelperPool> helpers = {})
        : Fixture(settings, {}, std::move(helpers)), random(seed), barriers(one_in), buses(spread) {
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
    void clear() { (void)engine->tree().freeing().free_all_in_time(engine->tree().root()); }
    /// A new one, whose frequency follows from its number.
    Synth& voice(Definition& definition, int32_t id, AddAction action = AddAction::tail, int32_t target = 0) {
        Synth* made;
        REQUIRE(engine->tree().new_synth(definition, nullptr, id, action, target, made).ok());
        engine->tree().controls().set(*made, 0, 100.f + float(id % 900));
        return *made;
    }
    Synth& voice(std::string_view kind, int32_t id, AddAction action = AddAction::tail, int32_t target = 0) {
        return voice(def_of_kind(kind), id, action, target);
    }
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
        tree.controls().set(*made, 0, 50.f + float(pick(900)));
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
        case 9: tree.runs().set_run(*node, pick(2)); break;
        case 10: tree.runs().set_run(*node, true); break;
        case 11: set_named(tree, *synth, "amp", 0, float(pick(9)) / 16.f); break;
        case 12:
            map_named(tree, *synth, std::array{"amp", "amp", "second", "out"}[size_t(pick(4))], 0, pick(3) - 1,
                      pick(2));
            break;
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
                tree.runs().set_run(group, pick(4) == 0);
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
            if (engine->tree().counts().synths() < 60)
                for (int n = 0; n < 40; ++n)
                    add(harmless_kinds, 1 + pick(3));
            while (engine->tree().counts().synths() > 160)
                if (Synth* synth = any_synth())
                    engine->tree().free(*synth);
            go(1);
        }
        return told();
    }
    /// What was played, and told of it.
    Played told() {
        played.events = nodes;
        played.triggers = triggers;
        played.printed = printed;
        return std::move(played);
    }
    uint64_t computed_ahead() const { return engine->status().computed_ahead; }
    uint64_t pipelined() const { return engine->status().pipelined; }

    std::mt19937 random;
    int barriers, buses;
    std::vector<Definition*> defs;
    int next = 100, run_left = 0;
    size_t kind = 0;
    Played played;
};

/// play(threads) sounds, and gives the same with one thread and with that many.
template <class Play>
void check_same(const Play& play, std::initializer_list<int> threads) {
    const Played alone = play(1);
    CHECK(alone.sound != std::vector<float>(alone.sound.size()));
    for (const int count : threads) {
        CAPTURE(count);
        CHECK(same(alone, play(count)));
    }
}

} // namespace scs::test

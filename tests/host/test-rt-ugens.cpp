// SPDX-License-Identifier: GPL-3.0-or-later
// Which unit generators break a rule of the data loop: all of them play under guard, one after the other, and so do
// the SynthDefs of others. Stock unit generators that do are listed with their reasons; nothing else may.
#include "engine/synthdef/reader.hpp"
#include "engine/synthdef/test-support.hpp"
#include "engine/synthdef/unit-check.hpp"
#include "engine/units/unit-facts.hpp"
#include "guarded.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

using namespace scs::test;
using scs::InputRef;
using scs::Rate;
using scs::SynthDef;
using scs::UnitFacts;
using scs::UnitSpec;

namespace {

/// Breaches by what made them, each with the reason if it is accepted.
class Findings {
public:
    void add(const std::string& who) {
        for (const Breach& breach : take_breaches()) {
            const Allowed* known = nullptr;
            for (const Allowed& each : stock_breaches())
                if (each.what == breach.what && breach.where.find(each.where) != std::string::npos)
                    known = &each;
            const std::string line = breach.what + " at " + breach.where;
            (known ? accepted_[known->reason] : wrong_[line]).insert(who);
        }
    }
    void report() const {
        for (const auto& [reason, who] : accepted_)
            MESSAGE(reason << ": " << list(who));
        for (const auto& [line, who] : wrong_)
            FAIL_CHECK(line << ": " << list(who));
    }

private:
    static std::string list(const std::set<std::string>& names) {
        std::string text;
        for (const std::string& name : names)
            text += (text.empty() ? "" : ", ") + name;
        return text;
    }
    std::map<std::string, std::set<std::string>> accepted_, wrong_;
};

/// The signals for units' inputs. They have the unit's own rate, because many units read a whole block of an input
/// without looking at its rate.
enum class Feed { ones, triggers, noise };

constexpr const char* feed_names[] = {"ones", "triggers", "noise"};

class DefBuilder {
public:
    explicit DefBuilder(const std::string& name) { def.name = name; }

    InputRef constant(float value) {
        def.constants.push_back(value);
        return {-1, uint32_t(def.constants.size() - 1)};
    }
    InputRef add(const std::string& name, Rate rate, std::vector<InputRef> inputs, size_t outputs = 1) {
        def.units.push_back({name, rate, 0, std::move(inputs), std::vector<Rate>(outputs, rate)});
        return {int32_t(def.units.size() - 1), 0};
    }
    SynthDef def;
};

/// Whether the unit's first input is an FFT chain.
bool takes_spectra(std::string_view name) {
    for (const char* beginning :
         {"PV_",     "IFFT",       "Spec",     "Onsets",      "BeatTrack",        "KeyTrack",      "Loudness",
          "MFCC",    "FFTTrigger", "FFTPower", "FFTFlux",     "FFTCrest",         "FFTSpread",     "FFTSlope",
          "FFTPeak", "FFTSubband", "FFTMKL",   "FFTPhaseDev", "FFTComplexDev",    "FFTInterleave", "Unpack",
          "PackFFT", "KeyClarity", "KeyMode",  "Chromagram",  "SensoryDissonance"})
        if (name.substr(0, std::string_view(beginning).size()) == beginning)
            return name != "BeatTrack2";
    return false;
}

/// Inputs for which an arbitrary value makes the unit crash or do nothing.
struct Given {
    std::string_view unit;
    size_t input;
    float value;
};
constexpr Given given_inputs[] = {
    {"Convolution", 2, 512},
    {"Convolution2", 3, 512},
    {"Convolution2L", 3, 512},
    {"Convolution3", 3, 512},
    {"StereoConvolution2L", 4, 512},
    {"PartConv", 1, 1024},
    {"FFT", 0, 2},
    {"Onsets", 2, 3},
    {"Onsets", 6, 11},
    {"Onsets", 7, 1},
    {"DelTapRd", 0, 1},
    {"DelTapRd", 2, 0.01f},
};

const Given* find_given(std::string_view unit, size_t input) {
    for (const Given& each : given_inputs)
        if (each.unit == unit && each.input == input)
            return &each;
    return nullptr;
}

/// These crash at control rate, which sclang doesn't offer …
constexpr std::string_view audio_rate_only[] = {"GVerb"};
/// … and this one crashes if the buffer isn't its own.
constexpr std::string_view not_played[] = {"GrainTap"};

/// A SynthDef with the unit at that rate, or none if the unit can't run like that.
std::optional<SynthDef> around(const UnitFacts& facts, Rate rate, Feed feed) {
    if ((facts.rates & rate_bit(rate)) == 0 || (rate == Rate::demand && feed == Feed::triggers))
        return {};
    const std::string name(facts.name);
    if (std::find(std::begin(not_played), std::end(not_played), name) != std::end(not_played))
        return {};
    if (rate == Rate::control &&
        std::find(std::begin(audio_rate_only), std::end(audio_rate_only), name) != std::end(audio_rate_only))
        return {};
    const size_t more = rate == Rate::demand ? 2 : 0; // for the lists of demand units
    // If inputs count other inputs or outputs, the smallest numbers aren't enough; then constants are tried, too.
    const size_t most_outputs = std::min<size_t>(facts.min_outputs + 4u, facts.max_outputs);
    for (const bool counts : {false, true})
        for (size_t outputs = facts.min_outputs; outputs <= most_outputs; ++outputs)
            for (size_t inputs = facts.min_inputs + more; inputs <= facts.min_inputs + 8u; ++inputs) {
                DefBuilder b(name +
                             (rate == Rate::audio     ? ".ar"
                              : rate == Rate::control ? ".kr"
                                                      : ".demand") +
                             " of " + feed_names[size_t(feed)]);
                const Rate source_rate = rate == Rate::audio ? Rate::audio : Rate::control;
                const bool spectra = takes_spectra(name);
                const InputRef ones = b.add("DC", source_rate, {b.constant(1)});
                const InputRef triggers =
                    b.add("Impulse", source_rate, {b.constant(rate == Rate::audio ? 2000 : 300), b.constant(0)});
                const InputRef hiss = b.add("WhiteNoise", source_rate, {});
                std::vector<InputRef> refs;
                for (size_t i = 0; i < inputs; ++i) {
                    if (const Given* given = find_given(name, i)) {
                        refs.push_back(b.constant(given->value));
                    } else if (i == 1 && name == "DelTapRd") { // a position in the buffer, which only DelTapWr outputs
                        refs.push_back(b.add("DelTapWr", source_rate, {b.constant(1), hiss}));
                    } else if (i < 2 && spectra) {
                        const InputRef noise = b.add("WhiteNoise", Rate::audio, {});
                        refs.push_back(b.add("FFT", Rate::control,
                                             {b.constant(float(2 + i)), noise, b.constant(0.5f), b.constant(0),
                                              b.constant(1), b.constant(0)}));
                    } else if (rate == Rate::demand || counts) {
                        refs.push_back(b.constant(1));
                    } else if (feed == Feed::triggers) {
                        refs.push_back(triggers);
                    } else {
                        refs.push_back(feed == Feed::noise && i == 0 ? hiss : ones);
                    }
                }
                const InputRef unit = b.add(name, rate, refs, outputs);
                if (scs::check_unit(b.def, size_t(unit.unit)))
                    continue;
                if (rate == Rate::demand)
                    b.add("Duty", Rate::audio, {b.constant(0.001f), b.constant(0), b.constant(0), unit});
                return b.def;
            }
    return {};
}

/// Plays `voices` synths for a while under guard. Returns whether the server accepted them.
bool play(Playing& p, const std::string& name, int cycles, int voices = 1) {
    for (int id = 1000; id < 1000 + voices; ++id)
        p.client->send(osc_message("/s_new", {name, id, 0, 0}));
    const std::vector<std::string> answers = p.settle();
    constexpr uint32_t quanta[] = {1024, 256, 64, 100};
    for (int i = 0; i < cycles; ++i)
        p.host.cycle(quanta[i % 4]);
    p.client->send(osc_message("/g_freeAll", {0}));
    p.settle();
    return std::find(answers.begin(), answers.end(), "/fail") == answers.end();
}

Bytes contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Bytes bytes(text.size());
    std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return std::byte(c); });
    return bytes;
}

// SuperCollider's own plugins. Others have units that crash when their inputs are arbitrary, as they are here.
constexpr const char* core_plugins[] = {
    "BinaryOpUGens", "ChaosUGens",    "DelayUGens",   "DemandUGens",           "DiskIO_UGens",
    "DynNoiseUGens", "FFT_UGens",     "FilterUGens",  "GendynUGens",           "GrainUGens",
    "IOUGens",       "LFUGens",       "ML_UGens",     "MulAddUGens",           "NoiseUGens",
    "OscUGens",      "PV_ThirdParty", "PanUGens",     "PhysicalModelingUGens", "ReverbUGens",
    "TestUGens",     "TriggerUGens",  "UnaryOpUGens", "UnpackFFTUGens",
};

/// A folder with links to these plugins only.
class CorePlugins {
public:
    CorePlugins() {
        std::string name = std::filesystem::temp_directory_path() / "scs-ugens-XXXXXX";
        REQUIRE(mkdtemp(name.data()));
        path = name;
        const char* given = std::getenv("SC_PLUGIN_PATH");
        const std::filesystem::path from = given ? given : "/usr/lib/SuperCollider/plugins";
        for (const char* plugin : core_plugins) {
            const bool is_later =
                std::filesystem::exists(from / (std::string(plugin) + ".scx")); // SuperCollider 3.15's
            const std::string file = std::string(plugin) + (is_later ? ".scx" : ".so");
            std::filesystem::create_symlink(from / file, path / file);
        }
    }
    ~CorePlugins() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

/// Fills buffers 0 and 1 for units that read the buffer in their inputs; 2 and 3 are for spectra.
void make_buffers(Playing& p) {
    for (int i = 0; i < 4; ++i) {
        p.client->send(osc_message("/b_alloc", {i, i < 2 ? 65536 : 1024, 1}));
        if (i < 2)
            p.client->send(osc_message("/b_gen", {i, "sine1", 7, 1.f, 0.5f}));
    }
    REQUIRE(p.client->sync());
}

/// The names of the definitions; empty if this is no SynthDef file.
std::vector<std::string> names_in(const Bytes& bytes) {
    std::vector<std::string> names;
    if (auto defs = scs::read_synthdefs(bytes))
        for (const SynthDef& def : defs.value())
            names.push_back(def.name);
    return names;
}

void start_with_buffers(Playing& p) {
    make_buffers(p);
    p.node->link(out, 0);
    p.node->link(in, 0);
    p.node->start();
}

/// Plays all SynthDef files in the folder and its subfolders, `voices` of each at once.
void play_folder(const char* variable, const Host::Dict& info = {}, int cycles = 40, int voices = 1) {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE("skipped: " << reason);
        return;
    }
    const char* folder = std::getenv(variable);
    if (!folder || !std::filesystem::is_directory(folder)) {
        const std::string missing = folder ? folder : variable;
        MESSAGE("skipped: there is no folder " << missing);
        return;
    }
    Host host(library());
    Playing p(host, info);
    start_with_buffers(p);
    Findings findings;
    const Guarded guarded(host);
    int played = 0;
    std::set<std::string> refused;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".scsyndef")
            continue;
        const Bytes file = contents(entry.path());
        p.client->send(osc_message("/d_load", {std::filesystem::canonical(entry.path()).string()}));
        p.settle();
        for (const std::string& name : names_in(file)) {
            if (play(p, name, cycles, voices))
                ++played;
            else
                refused.insert(name);
            findings.add(name);
            p.client->send(osc_message("/d_free", {name}));
        }
    }
    std::string list;
    for (const std::string& name : refused)
        list += " " + name;
    MESSAGE(played << " SynthDefs played, " << refused.size() << " refused:" << list);
    CHECK(played > 0);
    findings.report();
}

/// Plays each unit generator at every rate it runs at, in blocks and at a sample rate of its own if there are any.
void play_units(const std::vector<Feed>& feeds, const std::vector<scs::OwnRate>& own_rates, int cycles) {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE("skipped: " << reason);
        return;
    }
    const CorePlugins plugins; // before all others, because a process keeps plugins that it has loaded
    Host host(library());
    Playing p(host, {{"scsynth.ugen-path", plugins.path}});
    start_with_buffers(p);
    Findings findings;
    const Guarded guarded(host);
    std::set<std::string> played, refused, left_out;
    for (const UnitFacts& facts : scs::all_unit_facts()) {
        if (facts.refused)
            continue;
        const std::string unit(facts.name);
        std::vector<SynthDef> defs;
        for (const Rate rate : {Rate::audio, Rate::control, Rate::demand})
            for (const Feed feed : feeds)
                for (const scs::OwnRate& own : own_rates)
                    if (auto def = around(facts, rate, feed)) {
                        def->own_rate = own;
                        def->name += " " + std::to_string(defs.size());
                        defs.push_back(std::move(*def));
                    }
        p.client->send(osc_message("/d_recv", {write_synthdefs(defs, 3)}));
        p.settle();
        for (const SynthDef& def : defs) {
            (play(p, def.name, cycles) ? played : refused).insert(unit);
            p.client->send(osc_message("/d_free", {def.name}));
        }
        findings.add(unit);
        if (!played.count(unit) && !refused.count(unit))
            left_out.insert(unit);
    }
    for (const std::string& unit : played)
        refused.erase(unit);
    std::string list;
    for (const std::string& unit : left_out)
        list += " " + unit;
    MESSAGE(played.size() << " units played, " << left_out.size() << " skipped, as they crash on made-up inputs:"
                          << list << "; " << refused.size() << " are of other plugins");
    CHECK(played.size() > 300);
    findings.report();
}

} // namespace

TEST_CASE("every unit generator, at every rate it runs at") {
    play_units({Feed::ones, Feed::triggers, Feed::noise}, {{}}, 24);
}

TEST_CASE("every unit generator in blocks and at sample rates of its own") {
    play_units({Feed::noise}, {{1, -1, 0.f, -1}, {1024, -1, 16.f, -1}}, 8);
}

TEST_CASE("units that stream files, with files") {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE("skipped: " << reason);
        return;
    }
    Host host(library());
    Playing p(host);
    const CorePlugins scratch; // its folder
    const std::string written = scratch.path / "a.wav";
    for (const Bytes& message :
         {osc_message("/b_alloc", {0, 65536, 1}), osc_message("/b_gen", {0, "sine1", 7, 1.f}),
          osc_message("/b_write", {0, written, "wav", "float", -1, 0, 0}), osc_message("/b_alloc", {1, 65536, 1}),
          osc_message("/b_write", {1, (scratch.path / "b.wav").string(), "wav", "float", 0, 0, 1}),
          osc_message("/b_read", {0, written, 0, -1, 0, 1})})
        p.client->send(message);
    REQUIRE(p.client->sync());
    p.define("in", {{"DiskIn", {{-1, 0}, {-1, 1}}}, {"DiskOut", {{-1, 1}, {0, 0}}}, {"Out", {{-1, 0}, {0, 0}}, false}});
    p.define("vin", {{"VDiskIn", {{-1, 0}, {-1, 1}, {-1, 1}, {-1, 0}}}, {"Out", {{-1, 0}, {0, 0}}, false}});
    p.node->link(out, 0);
    p.node->start();
    Findings findings;
    const Guarded guarded(host);
    for (const char* name : {"in", "vin"}) {
        const size_t before = p.node->output(0).size();
        CHECK(play(p, name, 200));
        findings.add(name);
        const std::vector<float>& sound = p.node->output(0);
        CHECK(*std::max_element(sound.begin() + long(before), sound.end()) > 0.5f);
    }
    findings.report();
}

TEST_CASE("SynthDefs as people write them") {
    play_folder("SCS_OWN_DEFS");
}

TEST_CASE("those of well-known projects") {
    play_folder(std::getenv("SCS_CORPUS") != nullptr ? "SCS_CORPUS" : "SCS_WILD_DEFS");
}

TEST_CASE("a SynthDef for each unit generator, as the language makes it") {
    play_folder("SCS_UGEN_DEFS");
}

TEST_CASE("the same, all units the plugins'") {
    play_folder("SCS_UGEN_DEFS", {{"scsynth.native-ugens", "false"}});
}

TEST_CASE("native unit generators, in batches") {
    // Four voices are the smallest batch; the blocks before it is formed are computed alone.
    play_folder("SCS_NATIVE_DEFS", {{"scsynth.native-ugens", "true"}, {"scsynth.max-synthdefs", "4096"}}, 8, 4);
}

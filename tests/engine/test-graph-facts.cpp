// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a synth with plugins' units before it is computed.
#include "engine/compile/graph-facts.hpp"
#include "engine/units/unit-effects.hpp"
#include "test-support.hpp"

#include <doctest/doctest.h>

using namespace scs;
using namespace scs::test;

namespace {

/// Its only control is 0. Constants: 0, 1, 2, 256, 3.
SynthDef def_with(std::vector<UnitSpec> units) {
    SynthDef def;
    def.name = "judged";
    def.constants = {0.f, 1.f, 2.f, 256.f, 3.f};
    def.controls = {0.f};
    def.control_names = {{"bus", 0}};
    def.units = {unit("Control", Rate::control, {}, {Rate::control})};
    def.units.insert(def.units.end(), units.begin(), units.end());
    return def;
}

constexpr InputRef zero{-1, 0}, one{-1, 1}, two{-1, 2}, size{-1, 3}, three{-1, 4}, of_bus{0, 0};

const UnitSpec cusp = unit("CuspN", Rate::audio, {one, one, two, zero}, {Rate::audio});
UnitSpec fft(InputRef buffer, InputRef sound) {
    return unit("FFT", Rate::control, {buffer, sound, one, zero, one, zero}, {Rate::control});
}
UnitSpec magnitudes_above(InputRef chain) {
    return unit("PV_MagAbove", Rate::control, {chain, zero}, {Rate::control});
}

const TurnFacts& facts_of(Fixture& f, std::vector<UnitSpec> units) {
    const Definition& made = *f.define(def_with(std::move(units)));
    REQUIRE(made.graph_facts != nullptr);
    REQUIRE(made.facts == made.graph_facts.get());
    return *made.facts;
}

} // namespace

TEST_CASE("what is known of a synth with plugins' units follows from its units") {
    Fixture f;
    const TurnFacts plain = facts_of(f, {cusp, unit("Out", Rate::audio, {of_bus, {1, 0}}, {})});
    CHECK((plain.acts_on_itself && plain.pipelines && plain.is_bus(0) && plain.buses_stay));
    CHECK_FALSE((plain.ends || plain.reads || plain.draws || plain.sends || plain.allocates));
    CHECK_FALSE((plain.reads_buffers || plain.writes_buffers));

    CHECK(facts_of(f, {cusp, unit("In", Rate::audio, {of_bus}, {Rate::audio})}).reads);
    CHECK(facts_of(f, {cusp, unit("WhiteNoise", Rate::audio, {}, {Rate::audio})}).draws);
    CHECK(facts_of(f, {cusp, unit("FreeSelf", Rate::control, {of_bus}, {Rate::control})}).ends);
    CHECK(facts_of(f, {cusp, unit("SendTrig", Rate::control, {of_bus, one, one}, {})}).sends);
    CHECK(facts_of(f, {cusp, unit("BufWr", Rate::audio, {zero, {1, 0}, one, {1, 0}}, {Rate::audio})}).writes_buffers);

    const auto line = [](InputRef done_action) {
        return unit("Line", Rate::control, {zero, one, one, done_action}, {Rate::control});
    };
    CHECK_FALSE(facts_of(f, {cusp, line(zero)}).ends);
    CHECK(facts_of(f, {cusp, line(two)}).ends);
    CHECK(facts_of(f, {cusp, line(two)}).acts_on_itself);
    CHECK_FALSE(facts_of(f, {cusp, line(three)}).acts_on_itself);
    CHECK_FALSE(facts_of(f, {cusp, line(of_bus)}).acts_on_itself);
}

TEST_CASE("of SuperCollider's own units in place of native ones the same is known, and buses are still native ones' to "
          "reach") {
    Settings settings;
    settings.native_ugens = false;
    Fixture f(settings);
    const UnitSpec sine = unit("SinOsc", Rate::audio, {size, zero}, {Rate::audio});
    const TurnFacts plain = facts_of(f, {sine, unit("OffsetOut", Rate::audio, {of_bus, {1, 0}}, {})});
    CHECK((plain.acts_on_itself && plain.pipelines && plain.is_bus(0)));
    CHECK_FALSE((plain.ends || plain.reads || plain.draws || plain.sends || plain.allocates));
    CHECK(facts_of(f, {unit("Dust", Rate::audio, {one}, {Rate::audio})}).draws);
    CHECK(facts_of(f, {unit("In", Rate::audio, {of_bus}, {Rate::audio})}).reads);
    struct Operator {
        int16_t index;
        bool draws;
    };
    for (const Operator one_of : {Operator{5, false}, {37, true}, {41, true}, {42, false}, {44, true}}) {
        CAPTURE(one_of.index);
        const auto facts = facts_of(f, {sine, unit("UnaryOpUGen", Rate::audio, {{1, 0}}, {Rate::audio}, one_of.index)});
        CHECK(facts.draws == one_of.draws);
    }
    for (const Operator one_of : {Operator{2, false}, {46, false}, {47, true}, {48, true}}) {
        CAPTURE(one_of.index);
        const auto facts =
            facts_of(f, {sine, unit("BinaryOpUGen", Rate::audio, {{1, 0}, one}, {Rate::audio}, one_of.index)});
        CHECK(facts.draws == one_of.draws);
    }
    CHECK_FALSE(facts_of(f, {unit("FreeSelf", Rate::control, {of_bus}, {Rate::control})}).acts_on_itself);
}

TEST_CASE("a unit of which nothing is known may do anything") {
    Fixture f;
    CHECK(find_unit_effects("zzz") == nullptr);
    CHECK(find_unit_effects("Free") == nullptr); // it frees any node
    CHECK_FALSE(facts_of(f, {unit("Free", Rate::control, {of_bus, one}, {Rate::control})}).acts_on_itself);
}

TEST_CASE("spectra in a synth's own buffer are nobody else's") {
    Fixture f;
    const UnitSpec many = unit("MaxLocalBufs", Rate::scalar, {one}, {Rate::scalar});
    const UnitSpec own = unit("LocalBuf", Rate::scalar, {one, size}, {Rate::scalar});
    CHECK_FALSE(facts_of(f, {cusp, many, own, fft({3, 0}, {1, 0}), magnitudes_above({4, 0})}).writes_buffers);
    CHECK(facts_of(f, {cusp, fft(zero, {1, 0})}).writes_buffers);
    CHECK(facts_of(f, {cusp, fft(of_bus, {1, 0})}).writes_buffers);
    // The second chain of two may be anybody's.
    const auto product = [](InputRef a, InputRef b) {
        return unit("PV_MagMul", Rate::control, {a, b}, {Rate::control});
    };
    CHECK_FALSE(facts_of(f, {cusp, many, own, fft({3, 0}, {1, 0}), product({4, 0}, {4, 0})}).writes_buffers);
    CHECK(facts_of(f, {cusp, many, own, fft({3, 0}, {1, 0}), product({4, 0}, of_bus)}).writes_buffers);
}

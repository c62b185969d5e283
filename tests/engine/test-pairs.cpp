// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include "engine/compile/pairs.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

using namespace scs;
using namespace scs::test;

namespace {

constexpr uintptr_t audio = 100; ///< places of Row from here on are audio wires, the others at control rate
constexpr size_t most_operands = 1000;

void alone(const Op&, Block&) SCS_NONBLOCKING {}
void scaled(const Op&, Block&) SCS_NONBLOCKING {}
void both(const Op&, Block&) SCS_NONBLOCKING {}
void other(const Op&, Block&) SCS_NONBLOCKING {}

KernelFunction pair_of_rows(const Kernel& kernel) {
    return kernel.lone == alone ? both : nullptr;
}

Kernel kernel(KernelFunction lone, Effect effect = Effect::none) {
    Kernel made;
    made.lone = lone;
    made.lone_scaled = scaled;
    made.effect = effect;
    return made;
}
const Kernel filter = kernel(alone), between = kernel(other), writer = kernel(other, Effect::writes_audio);

/// Operations that read places and write one each.
struct Row {
    std::vector<Op> ops;
    std::vector<Operand> operands;
    std::vector<std::unique_ptr<Gain>> gains;
    std::vector<const Kernel*> kernels;

    Row() { operands.reserve(most_operands); }
    Row(const Row&) = delete; // operations point to operands
    Row& operator=(const Row&) = delete;
    static Operand at(uintptr_t place) { return {place, place < audio ? Base::control : Base::audio, Rate::audio}; }
    Row& add(const Kernel& kernel, const std::vector<uintptr_t>& inputs, uintptr_t output, uintptr_t factor = 0) {
        const size_t first = operands.size();
        for (const uintptr_t input : inputs)
            operands.push_back(at(input));
        operands.push_back(at(output));
        REQUIRE(operands.size() <= most_operands);
        const auto unit = uint16_t(ops.size());
        Op op{kernel.lone, operands.data() + first, nullptr, 0, 0, uint16_t(inputs.size()), 1, 0, unit};
        if (factor) {
            gains.push_back(std::make_unique<Gain>(Gain{at(factor), 0, true}));
            op.gain = gains.back().get();
            op.run = kernel.lone_scaled;
        }
        ops.push_back(op);
        kernels.push_back(&kernel);
        return *this;
    }
    std::vector<uint32_t> pair(uint32_t most_wires = 100) {
        return pair_up(ops, operands, {kernels, pair_of_rows, most_wires, 1});
    }
    /// The units in their order, those that are computed with the one before in brackets.
    std::string paired(uint32_t most_wires = 100) {
        pair(most_wires);
        std::string text;
        bool second = false;
        for (const Op& op : ops) {
            text += second ? "(" + std::to_string(op.unit) + ")" : std::to_string(op.unit);
            second = op.run == both;
        }
        return text;
    }
    /// What each unit's output is made of, as a number.
    std::vector<uint64_t> results() const {
        std::map<std::pair<Base, uintptr_t>, uint64_t> places;
        const auto value = [&](const Operand& operand) {
            const auto found = places.find({operand.base, operand.offset});
            return found == places.end() ? uint64_t(operand.offset) : found->second;
        };
        std::vector<uint64_t> found(ops.size());
        for (const Op& op : ops) {
            uint64_t made = op.unit + 1;
            for (size_t i = 0; i < op.inputs; ++i)
                made = made * 6364136223846793005u + value(op.operands[i]);
            if (op.gain)
                made = made * 6364136223846793005u + value(op.gain->factor);
            found[op.unit] = made;
            places[{op.operands[op.inputs].base, op.operands[op.inputs].offset}] = made;
        }
        return found;
    }
};

/// Filters of several kinds and what is between them, by chance, from two oscillators to bus `out`. Controls: freq,
/// gain, out.
SynthDef filters_def(std::mt19937& random) {
    SynthDef def;
    def.name = "filters";
    def.constants = {0.f, 0.3f, 300.f, 0.01f, 0.7f, 2000.f};
    def.controls = {440.f, 0.5f, 0.f};
    def.control_names = {{"freq", 0}, {"gain", 1}, {"out", 2}};
    const std::vector<Rate> one = {Rate::audio};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control, Rate::control, Rate::control}),
        unit("LFSaw", Rate::audio, {{-1, 2}, {-1, 0}}, one),
        unit("Impulse", Rate::audio, {{-1, 2}, {-1, 1}}, one),
    };
    const auto any_audio = [&] { return InputRef{int32_t(1 + random() % (def.units.size() - 1)), 0}; };
    std::vector<InputRef> ends;
    for (int i = 0; i < 24; ++i) {
        const InputRef in = any_audio(), gain{0, 1}, freq = random() % 2 ? InputRef{0, 0} : InputRef{-1, 5};
        switch (random() % 8) {
        case 0: def.units.push_back(unit("LPF", Rate::audio, {in, freq}, one)); break;
        case 1: def.units.push_back(unit("RHPF", Rate::audio, {in, freq, {-1, 4}}, one)); break;
        case 2: def.units.push_back(unit("BPF", Rate::audio, {in, freq, gain}, one)); break;
        case 3: def.units.push_back(unit("LeakDC", Rate::audio, {in, {-1, 4}}, one)); break;
        case 4: def.units.push_back(unit("Lag", Rate::audio, {in, {-1, 3}}, one)); break;
        case 5: def.units.push_back(unit("APF", Rate::audio, {in, freq, {-1, 4}}, one)); break;
        case 6: def.units.push_back(unit("BinaryOpUGen", Rate::audio, {any_audio(), in}, one, 0)); continue;
        default: def.units.push_back(unit("OnePole", Rate::audio, {in, {-1, 4}}, one)); break;
        }
        // What is multiplied next is one operation with that.
        if (random() % 2)
            def.units.push_back(unit("BinaryOpUGen", Rate::audio, {{int32_t(def.units.size() - 1), 0}, gain}, one, 2));
        ends.push_back({int32_t(def.units.size() - 1), 0});
    }
    InputRef sum = ends[0];
    for (size_t i = 1; i < ends.size(); ++i) {
        def.units.push_back(unit("BinaryOpUGen", Rate::audio, {sum, ends[i]}, one, 0));
        sum = {int32_t(def.units.size() - 1), 0};
    }
    def.units.push_back(unit("Out", Rate::audio, {{0, 2}, sum}, {}));
    return def;
}

Settings native(bool batching) {
    Settings settings;
    settings.native_ugens = true;
    settings.batching = batching;
    settings.simd = "sse2";
    return settings;
}

/// How many operations without a gain have other functions than those that compute one unit.
size_t in_pairs(const NativeCode& code) {
    return size_t(std::ranges::count_if(code.lone.ops, [&](const Op& op) {
        const auto plain = std::ranges::find(code.plain.ops, op.unit, &Op::unit);
        return !op.gain && plain->run != op.run;
    }));
}

/// What a voice sounds like, of which there are as many as a batch has lanes, while its controls change.
std::vector<float> sound_of(const SynthDef& def, bool batching, int quantum) {
    Settings settings = native(batching);
    settings.block_size = quantum;
    Fixture f(settings);
    Definition& definition = *f.define(def);
    REQUIRE(definition.code);
    REQUIRE(definition.code->batchable);
    CHECK(in_pairs(*definition.code) > 1);
    for (int32_t id = 1; id <= 4; ++id)
        set_named(f.engine->tree(), f.play(definition, id), "out", 0, id == 2 ? 0.f : 20.f + float(id));
    std::vector<float> all;
    std::mt19937 random(5);
    for (int block = 0; block < 60; ++block) {
        if (block % 7 == 3)
            for (int32_t id = 1; id <= 4; ++id) {
                Synth& synth = *f.engine->tree().find_synth(id);
                set_named(f.engine->tree(), synth, block % 2 ? "freq" : "gain", 0,
                          block % 2 ? float(50 + random() % 3000) : 0.1f + float(random() % 5) * 0.1f);
            }
        if (block == 50)
            CHECK(bool(f.engine->tree().find_synth(2)->voice->batch) == batching);
        const std::vector<float> some = f.render(quantum, quantum);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

} // namespace

TEST_CASE("operations of one kernel become pairs where the second doesn't need the first") {
    CHECK(Row().add(filter, {1}, 100).add(filter, {3}, 101).paired() == "0(1)");
    CHECK(Row().add(filter, {1}, 100).add(filter, {3}, 101).add(filter, {5}, 102).paired() == "0(1)2");
    CHECK(Row().add(between, {1}, 100).add(between, {3}, 101).paired() == "01");
    CHECK(Row().add(filter, {1}, 100).add(filter, {100}, 101).paired() == "01");
    CHECK(Row().add(filter, {1}, 100).add(between, {100}, 101).add(filter, {101}, 102).paired() == "012");
    CHECK(Row().add(filter, {1}, 100, 7).add(filter, {3}, 101, 7).paired() == "0(1)");

    INFO("what the second needs comes before both, what it doesn't behind them");
    CHECK(Row().add(filter, {1}, 100).add(between, {5}, 101).add(filter, {3}, 102).paired() == "0(2)1");
    CHECK(Row().add(filter, {1}, 100).add(between, {5}, 101).add(filter, {101}, 102).paired() == "10(2)");
    CHECK(Row().add(filter, {1}, 100).add(between, {5}, 7).add(filter, {3}, 101, 7).paired() == "10(2)");
    CHECK(Row().add(filter, {1}, 100).add(filter, {100}, 101).add(filter, {3}, 102).add(filter, {102}, 103).paired() ==
          "0(2)1(3)");

    INFO("what has an effect stays in its order");
    CHECK(Row().add(filter, {1}, 100).add(writer, {5}, 101).add(filter, {101}, 102).paired() == "10(2)");
    CHECK(Row().add(filter, {1}, 100).add(writer, {5}, 101).add(writer, {6}, 102).add(filter, {102}, 103).paired() ==
          "0123");
    CHECK(Row().add(filter, {1}, 100).add(writer, {5}, 101).add(writer, {6}, 102).add(filter, {101}, 103).paired() ==
          "10(3)2");

    INFO("values on demand, and wires too many");
    Kernel asks = between;
    asks.pulls = true;
    CHECK(Row().add(filter, {1}, 100).add(asks, {5}, 101).add(filter, {3}, 102).paired() == "012");
    for (const uint32_t most : {2u, 3u})
        CHECK(Row().add(filter, {1}, 100).add(filter, {3}, 101).add(between, {100, 101}, 102).paired(most) ==
              (most == 2 ? "012" : "0(1)2"));
}

TEST_CASE("where an operation has gone") {
    Row row;
    row.add(between, {7}, 100).add(filter, {1}, 101).add(between, {5}, 102).add(filter, {102}, 103);
    CHECK(row.pair() == std::vector<uint32_t>{0, 2, 1, 3});
}

TEST_CASE("each operation reads what it has read before it was part of a pair, or another was") {
    std::mt19937 random(11);
    size_t pairs = 0;
    for (int turn = 0; turn < 300; ++turn) {
        CAPTURE(turn);
        Row row;
        std::vector<uintptr_t> written, controls{1};
        const auto one_of = [&](const std::vector<uintptr_t>& places) { return places[random() % places.size()]; };
        for (uintptr_t i = 0; i < 40; ++i) {
            const auto any = [&] { return written.empty() || random() % 8 == 0 ? one_of(controls) : one_of(written); };
            // Audio wires are used again, as soon as what lies there isn't read any more.
            const bool control = random() % 5 == 0;
            const uintptr_t output = control ? 10 + i : audio + random() % 6;
            const Kernel& kernel = *std::array{&filter, &filter, &between, &writer}[random() % 4];
            row.add(kernel, {any(), any()}, output, random() % 3 == 0 ? one_of(controls) : 0);
            std::vector<uintptr_t>& places = control ? controls : written;
            if (std::ranges::find(places, output) == places.end())
                places.push_back(output);
        }
        const std::vector<uint64_t> before = row.results();
        const std::vector<uint32_t> now = row.pair();
        CHECK(row.results() == before);
        uint32_t last = 0;
        for (size_t op = 0; op < now.size(); ++op) {
            CHECK(row.ops[now[op]].unit == op);
            if (row.kernels[op] == &writer) {
                CHECK(now[op] >= last);
                last = now[op];
            }
        }
        for (size_t i = 0; i + 1 < row.ops.size(); ++i)
            if (row.ops[i].run == both) {
                ++pairs;
                const Op &first = row.ops[i], &second = row.ops[i + 1];
                CHECK(row.kernels[first.unit] == row.kernels[second.unit]);
                for (size_t k = 0; k < second.inputs; ++k)
                    CHECK((second.operands[k].base != Base::audio ||
                           second.operands[k].offset != first.operands[first.inputs].offset));
            }
    }
    CHECK(pairs > 500);
}

TEST_CASE("filters in pairs have the bits of each alone, in blocks of a chunk and in longer ones") {
    std::mt19937 random(3);
    for (int turn = 0; turn < 12; ++turn) {
        CAPTURE(turn);
        const SynthDef def = filters_def(random);
        for (const int quantum : {64, 128}) {
            CAPTURE(quantum);
            const std::vector<float> lone = sound_of(def, false, quantum), batched = sound_of(def, true, quantum);
            CHECK(std::ranges::any_of(lone, [](float x) { return std::abs(x) > 0.001f; }));
            CHECK(std::memcmp(lone.data(), batched.data(), lone.size() * sizeof(float)) == 0);
        }
    }
}

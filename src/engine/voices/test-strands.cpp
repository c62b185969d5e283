// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/nodes/node.hpp"
#include "engine/voices/strands.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace scs;

namespace {

constexpr int outputs = 2;

Settings settings_with_outputs() {
    Settings settings;
    settings.outputs = outputs;
    settings.audio_buses = 128;
    settings.control_buses = 64;
    return settings;
}

/// A lone voice whose operations reach buses by constant numbers.
struct Turn {
    struct Use {
        Effect effect;
        float bus;
        int channels = 1;
    };
    explicit Turn(std::vector<Use> uses) : numbers(uses.size()), operands(uses.size()), voice(code, nullptr, 48000) {
        for (size_t i = 0; i < uses.size(); ++i) {
            numbers[i] = uses[i].bus;
            operands[i] = {reinterpret_cast<uintptr_t>(&numbers[i]), Base::fixed, Rate::scalar};
            Op op{};
            op.operands = &operands[i];
            op.inputs = uint16_t(1 + uses[i].channels);
            op.outputs = uint16_t(uses[i].channels);
            code.lone_reaches.push_back({uint32_t(code.lone.ops.size()), uses[i].effect, 1});
            code.lone.ops.push_back(op);
        }
        synth.voice = &voice;
    }

    std::vector<float> numbers;
    std::vector<Operand> operands;
    NativeCode code;
    Voice voice;
    Synth synth;
};

constexpr Effect in = Effect::reads_audio, out = Effect::writes_audio, in_kr = Effect::reads_control,
                 out_kr = Effect::writes_control;

struct Found {
    explicit Found(std::vector<std::vector<Turn::Use>> all, std::vector<size_t> work = {})
        : strands(settings_with_outputs(), 64) {
        strands.begin();
        for (size_t i = 0; i < all.size(); ++i) {
            turns.push_back(std::make_unique<Turn>(all[i]));
            strands.add({nullptr, &turns.back()->synth}, work.empty() ? 1 : work[i]);
        }
        strands.find();
    }
    /// A letter for each turn, one for each strand.
    std::string letters() const {
        std::string found;
        for (size_t first = 0, end; first < turns.size(); first = end) {
            end = strands.end(first);
            found += std::string(end - first, found.empty() ? 'a' : char(found.back() + 1));
        }
        return found;
    }
    bool alone(Effect effect, int64_t bus, size_t first, size_t end) const {
        return strands.alone({0, effect, 1}, {bus, bus}, first, end);
    }
    bool may_write(Effect effect, int64_t bus, size_t first, size_t end) const {
        return strands.may_write({0, effect, 1}, {bus, bus}, first, end);
    }

    std::vector<std::unique_ptr<Turn>> turns;
    Strands strands;
};

} // namespace

TEST_CASE("who plays to an effect is in a strand with it") {
    const Found found({{{out, 4}}, {{in, 4}, {out, 0}}, {{out, 6}}, {{out, 6}}, {{in, 6}, {out, 0}}, {{out, 0}}});
    CHECK(found.letters() == "aabbbc");
    CHECK(found.alone(in, 4, 0, 2));
    CHECK(found.alone(out, 6, 2, 5));
    CHECK_FALSE(found.alone(out, 6, 2, 4));
    CHECK_FALSE(found.alone(out, 6, 3, 5));
}

TEST_CASE("a bus that is only written or only read makes no strand") {
    CHECK(Found({{{out, 4}}, {{out, 4}}, {{in, 5}}, {{in, 5}}}).letters() == "abcd");
}

TEST_CASE("audio and control buses are told apart") {
    CHECK(Found({{{out, 4}}, {{in_kr, 4}}, {{out_kr, 5}}, {{in, 5}}}).letters() == "abcd");
    CHECK(Found({{{out_kr, 4}}, {{in_kr, 4}}, {{out, 5}}, {{out, 6}}}).letters() == "aabc");
}

TEST_CASE("who reads before it is written is in the strand, too") {
    CHECK(Found({{{in, 4}}, {{out, 4}}, {{out, 7}}, {{out, 8}}}).letters() == "aabc");
}

TEST_CASE("of several channels each counts") {
    CHECK(Found({{{out, 4, 3}}, {{in, 6}}, {{out, 7}}, {{in, 8}}}).letters() == "aabc");
    CHECK(Found({{{out, 4, 2}}, {{in, 6}}, {{out, 7}}, {{in, 8}}}).letters() == "abcd");
}

TEST_CASE("strands that overlap are one") {
    CHECK(Found({{{out, 4}}, {{out, 5}}, {{in, 4}}, {{in, 5}}, {{out, 9}}, {{out, 10}}, {{out, 11}}}).letters() ==
          "aaaabcd");
    CHECK(Found({{{out, 4}}, {{in, 4}, {out, 5}}, {{in, 5}}, {{out, 9}}, {{out, 10}}, {{out, 11}}}).letters() ==
          "aaabcd");
}

TEST_CASE("what more than half of the work goes through makes no strand") {
    // Two tracks and a limiter.
    const std::vector<std::vector<Turn::Use>> turns = {
        {{out, 4}}, {{in, 4}, {out, 40}}, {{out, 6}}, {{in, 6}, {out, 40}}, {{in, 40}, {out, 40}}};
    const Found found(turns);
    CHECK(found.letters() == "aabbc");
    CHECK_FALSE(found.alone(out, 40, 0, 2));
    CHECK(found.may_write(in, 40, 0, 2));
    CHECK(found.may_write(in, 40, 2, 4));
    CHECK(Found(turns, {5, 6, 1, 2, 3}).letters() == "abccd");
}

TEST_CASE("a turn that may write to any bus leaves no strand") {
    Turn any({{out, 4}});
    any.operands[0].base = Base::control;
    Turn before({{out, 9}}), behind({{in, 9}}), other({{out, 12}});
    for (const bool there : {false, true}) {
        Strands strands(settings_with_outputs(), 8);
        strands.begin();
        for (Turn* turn : {&before, &behind, &other})
            strands.add({nullptr, &turn->synth}, 1);
        strands.add({nullptr, there ? &any.synth : &other.synth}, 1);
        strands.find();
        CHECK(strands.end(0) == (there ? 1 : 2));
        CHECK(strands.alone({0, out, 1}, {9, 9}, 0, 2) == !there);
        CHECK(strands.may_write({0, in, 1}, {9, 9}, 2, 4) == there);
    }
}

TEST_CASE("an output of the server is nobody's alone") {
    const Found found({{{out, 1}}, {{in, 1}}, {{out, 2}}, {{in, 2}}, {{out, 50}}, {{out, 51}}});
    CHECK_FALSE(found.alone(out, 1, 0, 2));
    CHECK(found.alone(out, 2, 2, 4));
}

TEST_CASE("of several buses some may be a strand's alone") {
    const Found found({{{out, 4, 4}}, {{in, 4}}, {{in, 7}}, {{out, 50}}, {{out, 51}}, {{in, 7}}, {{out, 52}}});
    const NativeCode::BusUse use{0, out, 1};
    CHECK(found.strands.alone(use, {4, 6}, 0, 2));
    CHECK(found.strands.any_alone(use, {4, 7}, 0, 2));
    CHECK_FALSE(found.strands.alone(use, {4, 7}, 0, 2));
    CHECK_FALSE(found.strands.any_alone(use, {7, 7}, 0, 2));
}

TEST_CASE("who may write is known") {
    const Found found({{{in, 4}}, {{out, 4}}, {{in, 4}}, {{out, 4}}, {{in, 4}}});
    CHECK_FALSE(found.may_write(in, 4, 0, 1));
    CHECK(found.may_write(in, 4, 1, 2));
    CHECK(found.may_write(in, 4, 2, 3)); // it isn't known exactly
    CHECK_FALSE(found.may_write(in, 4, 4, 5));
    CHECK_FALSE(found.may_write(in, 5, 0, 5));
}

TEST_CASE("buses that don't exist harm nothing, and a block knows nothing of the last") {
    Strands strands(settings_with_outputs(), 4);
    Turn far({{out, 1e6f}, {in, 127.f, 8}, {out_kr, 63.f, 8}}), writer({{out, 9}}), reader({{in, 9}}),
        other({{out, 70}});
    strands.begin();
    for (Turn* turn : {&far, &writer, &reader, &other})
        strands.add({nullptr, &turn->synth}, 1);
    strands.find();
    CHECK(strands.end(1) == 3);
    strands.begin();
    for (Turn* turn : {&other, &reader, &other, &other})
        strands.add({nullptr, &turn->synth}, 1);
    strands.find();
    CHECK(strands.end(0) == 1);
    CHECK(strands.end(1) == 2);
}

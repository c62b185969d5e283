// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/nodes/node.hpp"
#include "engine/parallel/dependencies.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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
        synth.facts = &code;
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
        : items(settings_with_outputs(), 64) {
        items.begin();
        for (size_t i = 0; i < all.size(); ++i) {
            turns.push_back(std::make_unique<Turn>(all[i]));
            items.add({nullptr, &turns.back()->synth}, work.empty() ? 1 : work[i]);
        }
        strands = &items.find_strands();
    }
    /// A letter for each turn, one for each strand.
    std::string letters() const {
        std::string found;
        for (size_t first = 0, end; first < turns.size(); first = end) {
            end = strands->end(first);
            found += std::string(end - first, found.empty() ? 'a' : char(found.back() + 1));
        }
        return found;
    }
    bool alone(Effect effect, int64_t bus, size_t first, size_t end) const {
        return items.alone({0, effect, 1}, {bus, bus}, first, end);
    }
    bool may_write(Effect effect, int64_t bus, size_t first, size_t end) const {
        return items.may_write({0, effect, 1}, {bus, bus}, first, end);
    }

    std::vector<uint32_t> writers(size_t item) const {
        const auto found = items.writers(item);
        return {found.begin(), found.end()};
    }

    std::vector<std::unique_ptr<Turn>> turns;
    Dependencies items;
    const Runs* strands;
};

using Writers = std::vector<uint32_t>;

} // namespace

TEST_CASE("what plays to an effect is in a strand with it") {
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

TEST_CASE("what reads before it is written is in the strand, too") {
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
    Turn before({{out, 9}}), after({{in, 9}}), other({{out, 12}});
    for (const bool there : {false, true}) {
        Dependencies items(settings_with_outputs(), 8);
        items.begin();
        for (Turn* turn : {&before, &after, &other})
            items.add({nullptr, &turn->synth}, 1);
        items.add({nullptr, there ? &any.synth : &other.synth}, 1);
        CHECK(items.find_strands().end(0) == (there ? 1 : 2));
        CHECK(items.known() == !there);
        CHECK(items.alone({0, out, 1}, {9, 9}, 0, 2) == !there);
        CHECK(items.may_write({0, in, 1}, {9, 9}, 2, 4) == there);
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
    CHECK(found.items.alone(use, {4, 6}, 0, 2));
    CHECK(found.items.any_alone(use, {4, 7}, 0, 2));
    CHECK_FALSE(found.items.alone(use, {4, 7}, 0, 2));
    CHECK_FALSE(found.items.any_alone(use, {7, 7}, 0, 2));
}

TEST_CASE("which items may write is known") {
    const Found found({{{in, 4}}, {{out, 4}}, {{in, 4}}, {{out, 4}}, {{in, 4}}});
    CHECK_FALSE(found.may_write(in, 4, 0, 1));
    CHECK(found.may_write(in, 4, 1, 2));
    CHECK(found.may_write(in, 4, 2, 3)); // it isn't known exactly
    CHECK_FALSE(found.may_write(in, 4, 4, 5));
    CHECK_FALSE(found.may_write(in, 5, 0, 5));
}

TEST_CASE("buses that don't exist harm nothing, and a block knows nothing of the last") {
    Dependencies items(settings_with_outputs(), 4);
    Turn far({{out, 1e6f}, {in, 127.f, 8}, {out_kr, 63.f, 8}}), writer({{out, 9}}), reader({{in, 9}}),
        other({{out, 70}});
    items.begin();
    for (Turn* turn : {&far, &writer, &reader, &other})
        items.add({nullptr, &turn->synth}, 1);
    CHECK(items.find_strands().end(1) == 3);
    CHECK(items.writers(2).size() == 1);
    items.begin();
    for (Turn* turn : {&other, &reader, &other, &other})
        items.add({nullptr, &turn->synth}, 1);
    const Runs& strands = items.find_strands();
    CHECK(strands.end(0) == 1);
    CHECK(strands.end(1) == 2);
    CHECK(items.writers(1).empty());
}

TEST_CASE("an item depends on the last ones before it that write what it reads") {
    const Found found({{{out, 4}, {out, 5}},
                       {{out, 4}},
                       {{in, 4, 2}},           // 5 is the first one's, 4 the second one's
                       {{in, 4}, {out, 4}},    // not on itself, nor on what reads, too
                       {{in, 4}, {in_kr, 4}},  // which is another bus
                       {{out, 6}, {in, 6}},    // its own
                       {{out, 4}, {in, 4, 1}}, // not on itself, but on what was there before
                       {{in, 9}}});
    CHECK(found.writers(0).empty());
    CHECK(found.writers(1).empty());
    CHECK(found.writers(2) == Writers{1, 0});
    CHECK(found.writers(3) == Writers{1});
    CHECK(found.writers(4) == Writers{3});
    CHECK(found.writers(5).empty());
    CHECK(found.writers(6) == Writers{3});
    CHECK(found.writers(7).empty());
}

TEST_CASE("all that read depend on what may write anything, and what may read anything on all that write") {
    Turn unknown_write({{out, 4}}), unknown_read({{in, 4}}), writer({{out, 9}}), reader({{in, 9}}), other({{in, 70}});
    unknown_write.operands[0].base = unknown_read.operands[0].base = Base::control;
    Dependencies items(settings_with_outputs(), 8);
    items.begin();
    for (Turn* turn : {&reader, &unknown_write, &writer, &reader, &other, &unknown_read, &unknown_write, &unknown_read})
        items.add({nullptr, &turn->synth}, 1);
    const auto writers = [&](size_t item) { return Writers(items.writers(item).begin(), items.writers(item).end()); };
    CHECK(writers(0).empty());
    CHECK(writers(3) == Writers{1, 2});
    CHECK(writers(4) == Writers{1});
    CHECK(writers(5) == Writers{2});
    CHECK(writers(7) == Writers{6});

    const Found wide({{{out, 20, 70}}, {{in, 21}}, {{out, 3}}, {{in, 10, 70}}});
    CHECK(wide.items.known());
    CHECK(wide.writers(1) == Writers{0});
    CHECK(wide.writers(3) == Writers{2});
    CHECK_FALSE(Found({{{out_kr, 0, 70}}}).items.known());
}

TEST_CASE("where there is no room for all that an item depends on, it depends on all before it") {
    constexpr size_t count = 40;
    std::vector<std::unique_ptr<Turn>> turns;
    Dependencies items(settings_with_outputs(), count);
    items.begin();
    for (size_t i = 0; i < count; ++i) {
        turns.push_back(std::make_unique<Turn>(std::vector<Turn::Use>{{in, 10, 60}, {out, float(10 + i)}}));
        items.add({nullptr, &turns.back()->synth}, 1);
    }
    CHECK(items.writers(3).size() == 3);
    for (size_t i = 1; i < count; ++i)
        CHECK(std::find(items.writers(i).begin(), items.writers(i).end(), uint32_t(i - 1)) != items.writers(i).end());
    CHECK(items.writers(count - 1).size() == 1);
    CHECK_FALSE(items.alone({0, out, 1}, {9, 9}, 0, 1));
    CHECK(items.find_strands().end(0) == 1);
}

TEST_CASE(
    "several blocks at once part no users of a control bus, or of what else all share, if one of them changes it") {
    const auto joined = [](std::vector<std::vector<Turn::Use>> uses, auto&& set) {
        std::vector<std::unique_ptr<Turn>> turns;
        Dependencies items(settings_with_outputs(), 8);
        items.begin();
        for (size_t i = 0; i < uses.size(); ++i) {
            turns.push_back(std::make_unique<Turn>(uses[i]));
            set(i, turns.back()->code);
            items.add({nullptr, &turns.back()->synth}, 1);
        }
        const Runs& stages = items.find_stages();
        std::string found;
        for (size_t i = 1; i < uses.size(); ++i)
            found += stages.parts(i) ? '-' : '|';
        return found;
    };
    const auto nothing = [](size_t, NativeCode&) {};
    CHECK(joined({{{out, 4}}, {{in, 4}}, {{out, 4}}}, nothing) == "||");
    CHECK(joined({{{in_kr, 4}}, {{in_kr, 4}}, {{in_kr, 4}}}, nothing) == "||");
    CHECK(joined({{{out, 4}}, {{in_kr, 4}}, {{in, 9}}, {{out_kr, 4}}, {{in, 9}}}, nothing) == "|--|");
    CHECK(joined({{{out_kr, 4}}, {{in, 9}}, {{in_kr, 4}}, {{in, 9}}}, nothing) == "--|");
    const std::vector<std::vector<Turn::Use>> four(4);
    const auto at = [](size_t first, size_t last, auto set) {
        return [=](size_t i, NativeCode& code) {
            if (i == first || i == last)
                set(i == last, code);
        };
    };
    CHECK(joined(four, at(0, 2, [](bool, NativeCode& c) { c.sends = true; })) == "--|");
    CHECK(joined(four, at(1, 3, [](bool, NativeCode& c) { c.allocates = true; })) == "|--");
    CHECK(joined(four, at(0, 2, [](bool last, NativeCode& c) {
                     (last ? c.writes_buffers : c.reads_buffers) = true;
                 })) == "--|");
    CHECK(joined(four, at(0, 2, [](bool, NativeCode& c) { c.reads_buffers = true; })) == "|||");
    const auto draws = [](uint32_t last_draws, bool last_ends) {
        return [=](bool last, NativeCode& c) {
            c.draws = true;
            c.numbers = last ? last_draws : 1;
            c.ends = last && last_ends;
        };
    };
    CHECK(joined(four, at(0, 2, draws(3, false))) == "|||");
    CHECK(joined(four, at(0, 2, draws(0, false))) == "--|");
    CHECK(joined(four, at(0, 2, draws(3, true))) == "--|");
}

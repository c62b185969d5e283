// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/units/unit-facts.hpp"

#include "engine/units/core-units.hpp"
#include "engine/units/sc3-plugins-units.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace scs {
namespace {

constexpr bool by_name(const UnitFacts& a, const UnitFacts& b) {
    return a.name < b.name;
}

constexpr auto table = [] {
    std::array<UnitFacts, std::size(core_units) + std::size(sc3_plugins_units)> all;
    std::ranges::merge(core_units, sc3_plugins_units, all.begin(), by_name);
    return all;
}();

static_assert(std::ranges::is_sorted(table, by_name));
static_assert(std::ranges::adjacent_find(table, {}, &UnitFacts::name) == table.end());

} // namespace

std::span<const UnitFacts> all_unit_facts() {
    return table;
}

const UnitFacts* find_unit_facts(std::string_view name) {
    const auto* row = std::lower_bound(std::begin(table), std::end(table), name,
                                       [](const UnitFacts& facts, std::string_view n) { return facts.name < n; });
    return row != std::end(table) && row->name == name ? row : nullptr;
}

const UnitEffects* find_unit_effects(std::string_view name) {
    const UnitFacts* facts = find_unit_facts(name);
    return facts && facts->effects_known ? &facts->effects : nullptr;
}

uint64_t block_inputs(std::string_view unit) {
    const UnitFacts* facts = find_unit_facts(unit);
    return facts ? facts->block_inputs : every_input;
}

const RefusedFile* refusal_of(std::string_view path) {
    static constexpr RefusedFile files[] = {
        {"LinkUGen", "starts threads and reads the network; units of ours take its units' places"},
        {"UIUGens", "opens X11 and starts a thread; units of ours take its units' places"},
        {"DemoUGens", "a tutorial"},
        {"DiskIO_UGens", "wakes a thread of its own from the data loop; units of ours take its units' places"},
        {"StkInst", "reads files in its units' constructors and throws, which would end the process"},
        {"StkUGens", "reads files in its units' constructors and throws, which would end the process"},
    };
    const std::string_view file = path.substr(path.rfind('/') + 1), stem = file.substr(0, file.rfind('.'));
    const auto* const found = std::ranges::find(files, stem, &RefusedFile::name);
    return found == std::end(files) ? nullptr : found;
}

size_t unregistered_bytes(std::string_view name) {
    // Some of SuperCollider's units write a little beyond the size that they register (InFeedback a flag); scsynth
    // keeps something there that is hardly ever read. sc3-plugins register their spectral units with the size of a
    // plain Unit, even if they add fields: up to 40 bytes, in PV_RecordBuf.
    return name.starts_with("PV_") ? 16 + 40 : 16;
}

bool spectra_fit(int64_t source_frames, int points, int64_t target_samples) {
    if (points < 2)
        return false;
    const int64_t half = points / 2, pieces = (source_frames + half - 1) / half;
    return pieces * points <= target_samples;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/turn-costs.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr int64_t longest = 1'000'000'000; // ns

} // namespace

size_t TurnCosts::place(const TurnFacts& facts, Kind kind) noexcept {
    const uint64_t mixed = (reinterpret_cast<uintptr_t>(&facts) + size_t(kind)) * 0x9E3779B97F4A7C15u;
    return size_t(mixed >> 32) % places; // that number is 2^64 / golden ratio
}

uint32_t TurnCosts::of(const TurnFacts& facts, Kind kind, size_t operations) const noexcept {
    if (const Entry& entry = entries_[place(facts, kind)]; entry.is(facts, kind))
        return entry.nsec;
    return uint32_t(std::clamp(operation_ * double(operations), 1., double(longest)));
}

/// A measurement may be too long, as the thread was interrupted, but hardly too short. So a shorter one counts at once,
/// a longer one little by little.
void TurnCosts::note(const TurnFacts& facts, Kind kind, size_t operations, int64_t nsec) noexcept {
    auto found = uint32_t(std::clamp<int64_t>(nsec, 1, longest));
    Entry& entry = entries_[place(facts, kind)];
    if (entry.is(facts, kind))
        found = std::min(found, entry.nsec + entry.nsec / 8 + 1);
    entry = {&facts, kind, found};
    if (operations)
        operation_ += (double(found) / double(operations) - operation_) / 16;
}

} // namespace scs

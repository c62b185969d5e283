// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/turn-facts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace scs {

/// How long turns take, of each SynthDef and kind. Until one was measured, that is guessed from its operations. [rt],
/// the data loop's.
class TurnCosts {
public:
    enum class Kind : uint8_t {
        lone,
        batch,
        held, ///< a voice of an interleaved batch, which writes what the batch has held for it
    };
    /// ns, 1 or more, of a turn of so many operations.
    uint32_t of(const TurnFacts&, Kind, size_t operations) const noexcept;
    /// Whether such a turn has been measured.
    bool knows(const TurnFacts& facts, Kind kind) const noexcept {
        return entries_[place(facts, kind)].is(facts, kind);
    }
    /// Such a turn has taken so many ns.
    void note(const TurnFacts&, Kind, size_t operations, int64_t nsec) noexcept;

private:
    struct Entry {
        const TurnFacts* of = nullptr; ///< only compared, as it may be gone
        Kind kind = Kind::lone;
        uint32_t nsec = 0;
        bool is(const TurnFacts& facts, Kind its_kind) const noexcept { return of == &facts && kind == its_kind; }
    };
    static size_t place(const TurnFacts&, Kind) noexcept;

    static constexpr size_t places = 512;
    std::array<Entry, places> entries_{}; ///< the last of those that have the same place
    double operation_ = 4;                ///< ns, in the mean
};

} // namespace scs

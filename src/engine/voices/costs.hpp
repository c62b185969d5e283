// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/compile/turn-facts.hpp"
#include "engine/rt/deadline.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

/// What synths take: notes all that is measured, wherever they are computed, for the deadline, for clients, for what is
/// ended in an overload, and for how work is shared by threads. [rt], the data loop's.
class Costs {
public:
    /// What an item computes.
    enum class Kind : uint8_t {
        lone,
        batch,
        held, ///< a voice of an interleaved batch, which writes what the batch has held for it
    };
    /// Items of a SynthDef and kind, one after the other, have taken `nsec` ns.
    struct Measured {
        int64_t nsec = 0;
        int items = 1;
        int synths = 0;        ///< that were computed in them; 0: what one costs isn't noted
        size_t operations = 0; ///< of an item
    };
    void note(const TurnFacts&, Kind, const Measured&) noexcept SCS_NONBLOCKING;

    /// ns, 1 or more, of an item. Until one was measured, that is guessed from its operations.
    uint32_t of(const TurnFacts&, Kind, size_t operations) const noexcept SCS_NONBLOCKING;
    /// Whether such an item was measured.
    static bool knows(const TurnFacts& facts, Kind kind) noexcept { return facts.costs.items[size_t(kind)] != 0; }

    // ---- in a walk, what synths take is measured where the clock is read

    /// The clock has been read at the begin of a block that is to be walked. Has it read at another place, too, in
    /// some.
    void begin_block(Deadline&, int32_t number) noexcept SCS_NONBLOCKING;
    void end_block(const Deadline& deadline) noexcept {
        if (!sampled_)
            block_work_ = deadline.announced();
    }

private:
    void note_item(uint32_t& item, size_t operations, int64_t nsec) noexcept SCS_NONBLOCKING;

    double operation_ = 4;   ///< ns, in the mean
    int64_t block_work_ = 0; ///< ns that were announced in a block after the last reading of the clock in it
    bool sampled_ = false;
};

} // namespace scs

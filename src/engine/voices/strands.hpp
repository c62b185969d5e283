// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/voices/reaches.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs {

/// Finds strands: turns, one behind the other, that hand sound or values to each other through buses that nobody else
/// reaches in the block, such as the voices of a track and its effects. Whoever computes all of a strand may write to
/// these buses at once, and what is on them stays in one core's cache. [rt], after construction.
class Strands {
public:
    /// [worker] most: turns of a block.
    Strands(const Settings&, size_t most);

    void begin() noexcept;
    /// The next turn. `work`: how much there is to do in it, in any unit.
    void add(const Item&, size_t work) noexcept;
    /// All turns were added. Buses that connect more than half of the work make no strand, as it would be done by one
    /// thread alone.
    void find() noexcept;

    /// The turn behind the strand that begins with `turn`, or behind that turn, if it is in none.
    size_t end(size_t turn) const noexcept { return ends_[turn]; }
    /// Whether no turn but those from `first` on and before `end` reaches these buses, and they are no output of the
    /// server.
    bool alone(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept;
    /// Whether that is so of one of them.
    bool any_alone(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept;
    /// Whether some of these turns may write to these buses.
    bool may_write(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept;

private:
    struct Bus {
        uint32_t block;                   ///< the last in which it is reached
        uint32_t first, last;             ///< turns that reach it …
        uint32_t first_write, last_write; ///< … and that write to it; none: first_write > last_write
        bool read;
    };
    void note(const NativeCode::BusUse&, const BusRange&) noexcept;
    bool is_alone(const Bus&, size_t first, size_t end) const noexcept;
    template <class What>
    bool all_of(const NativeCode::BusUse&, const BusRange&, What&&) const noexcept;

    std::vector<Bus> audio_, control_;
    std::vector<Bus*> reached_;  ///< those that are reached in this block
    std::vector<uint64_t> work_; ///< of all turns before each
    std::vector<int32_t> joins_; ///< how many connections begin at each turn, less those that end
    std::vector<uint32_t> ends_;
    size_t outputs_;
    size_t reached_count_ = 0, count_ = 0;
    uint32_t block_ = 0;
    bool unknown_ = false; ///< it can't be told what a turn reaches
};

} // namespace scs

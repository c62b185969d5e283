// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/parallel/reaches.hpp"
#include "engine/parallel/runs.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// Which items of a block depend on which, as they reach the same buses or something else that all share. One table has
/// the first and last items that reach and change each of these. All that needs to know asks it. [rt], after
/// construction.
class Dependencies {
public:
    /// [worker] most: items of a block.
    Dependencies(const Settings&, size_t most);

    void begin() noexcept SCS_NONBLOCKING;
    /// The next item. `work`: how much there is to do in it, in any unit.
    void add(const Item&, size_t work) noexcept SCS_NONBLOCKING;
    /// The items from `first` to the last one so far belong together.
    void join(size_t first) noexcept { runs_.join(first, count_ - 1); }

    /// The items before this one that were the last to write what it reads. What wrote there earlier comes before
    /// these.
    std::span<const uint32_t> writers(size_t item) const noexcept {
        return std::span(writers_).subspan(ends_[item], ends_[item + 1] - ends_[item]);
    }

    // ---- once all were added

    /// Whether it is known of all items which buses they reach.
    bool known() const noexcept { return known_; }
    /// Whether a control of one is mapped to an audio bus.
    bool maps_audio() const noexcept { return maps_audio_; }
    /// Whether any item may reach the server's inputs.
    bool reaches_inputs() const noexcept { return reaches_inputs_; }
    /// Whether it isn't known how many random numbers are drawn before an item draws.
    bool draws_vary() const noexcept { return is_changed(accesses_[place(Shared::random)]); }

    /// Whether no item but those from `first` on and before `end` reaches these buses, and they are no output of the
    /// server.
    bool alone(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept SCS_NONBLOCKING;
    /// Whether that is so of one of them.
    bool any_alone(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept SCS_NONBLOCKING;
    /// Whether some of these items may write to these buses.
    bool may_write(const NativeCode::BusUse&, const BusRange&, size_t first, size_t end) const noexcept SCS_NONBLOCKING;

    // ---- once after that, one of these two

    /// Strands: runs of items that hand something to each other by a bus, but for buses through which more than half of
    /// the work goes, as that would be done by one thread alone.
    const Runs& find_strands() noexcept SCS_NONBLOCKING;
    /// What has to be in one stage where several blocks are under way, each with audio buses of its own: from the first
    /// to the last item that uses something else which one of them changes.
    const Runs& find_stages() noexcept SCS_NONBLOCKING;

private:
    static constexpr uint32_t none = UINT32_MAX;
    /// What items share besides buses. An item that draws as many random numbers in each block leaves the generator in
    /// a known state, so only others change it.
    enum class Shared { random, buffers, messages, memory, count };
    /// Of a bus, or of something else.
    struct Access {
        uint32_t round;                   ///< the last one in which it is reached
        uint32_t first, last;             ///< items that reach it …
        uint32_t first_write, last_write; ///< … and that change it
        uint32_t write_before;            ///< and the one before last_write
        bool read;

        bool written() const noexcept { return first_write != none; }
        bool connects() const noexcept { return read && written() && first < last; }
    };
    Access& reach(size_t place) noexcept SCS_NONBLOCKING;
    void write(size_t place) noexcept SCS_NONBLOCKING;
    void read(size_t place) noexcept SCS_NONBLOCKING;
    void depend_on(uint32_t writer) noexcept SCS_NONBLOCKING;
    void read(Effect, const BusRange&) noexcept SCS_NONBLOCKING;
    void note_shared(const TurnFacts&) noexcept SCS_NONBLOCKING;
    bool is_changed(const Access& access) const noexcept { return access.round == round_ && access.written(); }
    bool is_alone(const Access& access, size_t first, size_t end) const noexcept {
        return access.round != round_ || (access.first >= first && access.last < end);
    }
    size_t place(Shared what) const noexcept { return audio_ + control_ + size_t(what); }
    /// Of a kind's bus 0, and how many there are.
    size_t place(Effect effect) const noexcept { return audio(effect) ? 0 : audio_; }
    size_t buses(Effect effect) const noexcept { return audio(effect) ? audio_ : control_; }
    template <class What>
    bool all_of(Effect, const BusRange&, What&&) const noexcept SCS_NONBLOCKING;

    const size_t audio_, control_, outputs_; ///< how many buses there are
    const int64_t inputs_end_;               ///< audio buses: the last of the server's inputs is in front of this
    std::vector<Access> accesses_;           ///< of audio buses, control buses, then Shared
    std::vector<uint32_t> reached_;          ///< which of them are reached
    Runs runs_;
    std::vector<uint32_t> writers_, ends_; ///< of each item, one after the other, and where the next one's begin
    size_t most_, reached_count_ = 0, count_ = 0, writer_count_ = 0;
    uint32_t round_ = 0;
    uint32_t any_ = none;        ///< the last item that writes to a bus …
    uint32_t everything_ = none; ///< … and the last one that may write to all
    bool known_ = true, maps_audio_ = false, reaches_inputs_ = false;
    bool each_ = true; ///< it is known of each bus which items reach it
};

} // namespace scs

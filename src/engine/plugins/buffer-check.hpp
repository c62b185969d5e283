// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/registry.hpp"
#include "engine/units/unit-facts.hpp"

namespace scs {

/// [rt] The buffer that plugins take a number for: a sample buffer, or, after these, one of the synth's own. Null:
/// there is none, also for numbers below 0 and NaN.
::SndBuf* find_buffer(const ::Unit&, float number) noexcept;

/// [rt] How many bins the spectrum of an FFT chain has; 0 if it has none.
float bins_of_chain(const ::Unit&, float number) noexcept;

/// What comes before a unit in memory that has a BufferNeed. While this isn't met the unit isn't called: a unit of an
/// FFT chain lets the chain pass, one at demand rate has ended, any other is silent. Its constructor waits for it, too.
class alignas(16) BufferCheck {
public:
    explicit BufferCheck(const UgenEntry& entry) noexcept;
    static BufferCheck& of(::Unit& unit) noexcept { return *(reinterpret_cast<BufferCheck*>(&unit) - 1); }

    /// [rt] Calls the constructor, now or later. Under the caller's guard.
    void construct(::Unit&);
    /// Whether the constructor was called.
    bool constructed() const noexcept { return constructed_; }

private:
    struct Seen {
        float number;
        const float* data;
        int samples, channels;
        int spectrum; ///< samples of the chain's buffer
    };

    static void run(::Unit*, int samples);
    void build(::Unit&);
    bool holds(const ::Unit&) noexcept;
    bool stays(const Seen& before, const Seen& now) const noexcept;
    bool has_room(const ::Unit&, const ::SndBuf&, int spectrum) const noexcept;
    void keep_out(::Unit&, int samples) noexcept;
    void complain(const ::Unit&) noexcept;

    const BufferNeed& need_;
    const UgenEntry& entry_;
    UnitCalcFunc calc_ = nullptr; ///< the unit's own; before it is constructed, what it has until then
    Seen seen_{};                 ///< when the unit was made, or when it was called first with another number
    bool constructed_ = false, has_seen_ = false, complained_ = false;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace scs {

/// What a native unit has to say when its synth starts, in scsynth's words. It goes the way of a done action, as a
/// number that no SynthDef can have for one (act() in forms.hpp), nor a plugin's unit (done_action() in
/// plugins/interface-table.cpp).
struct Complaint {
    enum What : uint8_t { no_memory, no_buffer, channels, too_many_buffers };
    What what;
    uint16_t unit;        ///< index of the program's unit
    uint16_t outputs = 0; ///< for channels: the unit's, and
    uint16_t found = 0;   ///< the buffer's

    constexpr int action() const noexcept {
        const uint32_t details = what == channels
                                     ? std::min<uint32_t>(outputs, most) << 14 | std::min<uint32_t>(found, most)
                                     : uint32_t(unit);
        return int(flag | uint32_t(what) << 28 | details);
    }
    static constexpr std::optional<Complaint> of(int action) noexcept {
        const auto bits = uint32_t(action);
        if (action < 0 || !(bits & flag))
            return {};
        const auto what = What(bits >> 28 & 3u);
        if (what == channels)
            return Complaint{what, 0, uint16_t(bits >> 14 & most), uint16_t(bits & most)};
        return Complaint{what, uint16_t(bits)};
    }

private:
    static constexpr uint32_t flag = 1u << 30, most = (1u << 14) - 1;
};

static_assert(Complaint::of(Complaint{Complaint::channels, 0, 2, 1}.action())->outputs == 2);
static_assert(!Complaint::of(14) && !Complaint::of(1000000) && !Complaint::of(-1));

} // namespace scs

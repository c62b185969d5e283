// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/gates.hpp"

#include <algorithm>

namespace scs {

Gates::Gates(const Settings& settings)
    : audio_(size_t(settings.audio_buses)), control_(size_t(settings.control_buses)) {}

void Gates::write(const NativeCode::BusUse& use, BusRange range, size_t then) noexcept {
    std::vector<Written>& buses = audio(use.effect) ? audio_ : control_;
    range = range.within(buses.size());
    if (range.empty())
        return;
    if (range.wide())
        return write_unknown(then);
    any_ = then;
    for (int64_t bus = range.low; bus <= range.high; ++bus)
        buses[size_t(bus)] = {block_, uint32_t(then)};
}

size_t Gates::read(const NativeCode::BusUse& use, BusRange range) const noexcept {
    const std::vector<Written>& buses = audio(use.effect) ? audio_ : control_;
    range = range.within(buses.size());
    if (range.wide())
        return any_;
    size_t gate = everything_;
    for (int64_t bus = range.low; bus <= range.high; ++bus)
        if (const Written& written = buses[size_t(bus)]; written.block == block_)
            gate = std::max<size_t>(gate, written.then);
    return gate;
}

} // namespace scs

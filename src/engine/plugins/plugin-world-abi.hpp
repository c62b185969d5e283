// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi-owners.hpp"
#include "engine/plugins/lasting-world.hpp"
#include "engine/plugins/plugin-world.hpp"

#include <array>
#include <vector>

namespace scs {

/// The rates of a synth's units, which stay the same as long as the synth lives.
struct Rates {
    ::Rate full, control;
};

/// [any] That of units whose blocks have this many samples.
::Rate rate_of(double samples_per_second, int length) noexcept SCS_NONBLOCKING;

struct PluginWorld::Abi {
    LastingWorld& lasting = LastingWorld::make();
    AbiWorld& world = lasting.world(PluginApi::v3);
    std::vector<::RGen> random;
    ::SndBuf no_buffer{};                 ///< in place of the first local buffer, for synths without any
    std::array<AbiGraph, 64> stand_ins{}; ///< see abi_node_of()
};

} // namespace scs

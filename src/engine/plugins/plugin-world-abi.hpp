// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi-owners.hpp"
#include "engine/plugins/plugin-world.hpp"

#include <array>
#include <vector>

namespace scs {

/// The rates of units: a unit points at these for its life, so each sample rate has its own.
struct Rates {
    ::Rate full, control;
};

struct PluginWorld::Abi {
    AbiWorld world{};
    std::vector<::RGen> random;
    std::array<Rates, 16> rates{};
    size_t current_rates = 0;
    ::SndBuf no_buffer{}; ///< what a synth without local buffers sees as its first one
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi-owners.hpp"
#include "engine/plugins/plugin-world.hpp"

#include <vector>

namespace scs {

/// The rates of a synth's units, which they have for life.
struct Rates {
    ::Rate full, control;
};

struct PluginWorld::Abi {
    AbiWorld world{};
    std::vector<::RGen> random;
    ::SndBuf no_buffer{}; ///< what a synth without local buffers sees as its first one
};

} // namespace scs

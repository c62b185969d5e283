// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi.hpp"
#include "engine/plugins/buffers.hpp"
#include "engine/plugins/world.hpp"

#include <array>
#include <mutex>
#include <vector>

namespace scs {

/// The rates of units: a unit points at these for its life, so each sample rate has its own.
struct Rates {
    ::Rate full, control;
};

struct World::Abi {
    AbiWorld world{};
    std::vector<::RGen> random;
    std::array<Rates, 16> rates{};
    size_t current_rates = 0;
    ::SndBuf no_buffer{}; ///< what a synth without local buffers sees as its first one
};

struct Buffers::Abi {
    // One more than there are: the ABI's own range check lets the index one behind the last pass.
    std::vector<::SndBuf> live, latest;
    std::vector<::SndBufUpdates> updates;
    std::mutex non_rt_lock; ///< over `latest`, which plugins' own threads read (DiskIn)
};

/// Writes a buffer's fields, without touching its lock.
void set_abi_buffer(::SndBuf&, const Buffer&) noexcept;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/world/buffers.hpp"

#include <mutex>
#include <vector>

namespace scs {

/// The buffer table as plugins see it.
struct Buffers::Abi {
    // One more than there are buffers, because the ABI's range check accepts the index one past the last.
    std::vector<::SndBuf> live, latest;
    std::vector<::SndBufUpdates> updates;
    std::mutex non_rt_lock; ///< over `latest`, which plugins' own threads may read
};

/// Writes a buffer's fields.
void set_abi_buffer(::SndBuf&, const Buffer&) noexcept;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/base/reserved-array.hpp"
#include "engine/world/buffers.hpp"

#include <memory>
#include <mutex>

namespace scs {

/// The buffer table as plugins see it.
struct Buffers::Abi {
    // One more than there are buffers, because the ABI's range check accepts the index one past the last.
    explicit Abi(int buffers) : live(size_t(buffers) + 1), latest(size_t(buffers) + 1), updates(size_t(buffers) + 1) {}
    ReservedArray<::SndBuf> live, latest;
    ReservedArray<::SndBufUpdates> updates;
    /// Over `latest`, which plugins' own threads may read. They may still hold it when everything else is gone.
    std::shared_ptr<std::mutex> non_rt_lock = std::make_shared<std::mutex>();
};

/// Writes a buffer's fields.
void set_abi_buffer(::SndBuf&, const Buffer&) noexcept;

} // namespace scs

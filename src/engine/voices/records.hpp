// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/batch.hpp"
#include "engine/voices/held-output.hpp"
#include "engine/voices/voice.hpp"

#include <vector>

namespace scs {

class Pool;

/// Where voices' records are. A lone voice has its own, a piece of the pool. A voice in a batch has its items in a lane
/// of the batch's record, and its piece is given back. Leaving a batch takes another piece, but mustn't fail: without
/// memory the batch is retired. Then all its voices are lone, their records lie in what was the batch's memory, and
/// that is given back when the last of them is gone or has joined another batch. [rt], after construction.
class Records {
public:
    Records(Pool&, HeldOutput&, int lanes); // [worker]

    /// Uninitialised; null without memory.
    std::byte* make(const NativeCode&) noexcept;
    void free(Voice&) noexcept;
    /// An empty batch for voices such as this one; null without memory.
    Batch* make_batch(const Voice& like) noexcept;
    void free(Batch&) noexcept;

    /// A lone voice comes into a batch, to a free lane.
    void pack(Batch&, Synth&, int lane) noexcept;
    /// A voice becomes lone; without memory for its record all of the batch do. Never frees the batch.
    void unpack(Batch&, Synth&) noexcept;
    /// To a free lane of the same or another batch of its kind, or to where it is.
    void move(Synth&, Batch& to, int lane) noexcept;
    /// Empties the voice's lane: it has no record then, unless it kept its own.
    static void vacate(Voice&) noexcept;

private:
    void copy_out(Batch&, size_t lane, std::byte* record) const noexcept;
    void retire(Batch&) noexcept;

    Pool& pool_;
    HeldOutput& held_;
    size_t lanes_;
    std::vector<std::byte> scratch_; ///< a record for each lane
};

} // namespace scs

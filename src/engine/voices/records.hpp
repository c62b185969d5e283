// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/held-output.hpp"
#include "engine/voices/render-list.hpp"
#include "engine/voices/voice.hpp"

#include <vector>

namespace scs {

class Pool;

/// Keeps voices' records. A lone voice's record is a piece of the pool. When the voice joins a batch, its items go to a
/// lane of the batch's record, and its piece returns to the pool. Leaving a batch needs a new piece, but mustn't fail:
/// without memory the batch is retired. All its voices become lone then, with their records in what was the batch's
/// memory. That returns to the pool when the last of them is freed or has joined another batch. [rt], after
/// construction.
class Records {
public:
    Records(Pool&, HeldOutput&, RenderList&, int lanes); // [worker]

    /// A record for a lone voice, uninitialised; null if there is no memory.
    std::byte* make(const NativeCode&) noexcept SCS_NONBLOCKING;
    void free(Voice&) noexcept SCS_NONBLOCKING;
    /// An empty batch for voices of this one's kind; null if there is no memory.
    Batch* make_batch(const Voice& like) noexcept SCS_NONBLOCKING;
    void free(Batch&) noexcept SCS_NONBLOCKING;

    /// Moves a lone voice into a free lane of a batch.
    void pack(Batch&, Synth&, int lane) noexcept SCS_NONBLOCKING;
    /// Makes a voice lone. If there is no memory for its record, all voices of the batch become lone. Never frees the
    /// batch.
    void unpack(Batch&, Synth&) noexcept SCS_NONBLOCKING;
    /// Moves a voice to a free lane of its own batch or of another one of its kind. The lane that it is in is fine,
    /// too.
    void move(Synth&, Batch& to, int lane) noexcept SCS_NONBLOCKING;
    /// A record in which only that is set which `stops` see of a voice of a batch. It is the voice's own or valid until
    /// the next call.
    std::byte* copy_for_stops(const Voice&) noexcept SCS_NONBLOCKING;
    /// Empties the voice's lane. The voice has no record afterwards, unless it kept its own.
    void vacate(Voice&) noexcept SCS_NONBLOCKING;
    /// Copies what these lanes of the batch have from one memory that is laid out as its record to another one.
    static void copy_lanes(const Batch&, uint32_t lanes, const std::byte* from, std::byte* to) noexcept SCS_NONBLOCKING;
    /// What a batch's items are in the list has changed, though no voice has come or gone.
    void note_change() noexcept { list_.note_change(); }

private:
    void copy_out(Batch&, const std::vector<NativeCode::Piece>&, size_t lane,
                  std::byte* record) const noexcept SCS_NONBLOCKING;
    void retire(Batch&) noexcept SCS_NONBLOCKING;

    Pool& pool_;
    HeldOutput& held_;
    RenderList& list_;
    size_t lanes_;
    std::vector<std::byte> scratch_; ///< a record for each lane
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How DiskIn and VDiskIn get what they play. The buffer is what is streamed through: while one half of it plays, the
// other is read from the file. A unit asks for a half when it has left it, and stays where it is, silent, as long as a
// half isn't there that it needs. [rt]

#include "engine/plugins/stream-unit.hpp"
#include "engine/simd/deinterleave.hpp"

namespace scs {

/// A unit that plays a file.
struct Player : StreamUnit {
    /// A half of the buffer that it asked for and hasn't got yet.
    struct Half {
        int32_t start, end; ///< frames; equal if it has got it
        FileStream::Kind kind;
        uint64_t request; ///< 0: it couldn't be made yet
    };
    Half halves[2];
    int latest;            ///< of the two, the one that was asked for last
    const ::SndBuf* asked; ///< the buffer that they belong to

    bool awaits_any() const noexcept { return halves[0].start != halves[0].end || halves[1].start != halves[1].end; }
};

/// Moves interleaved frames to the outputs, from frame `at` on.
void play_channels(const float* from, const ::Unit&, int at, int frames) noexcept;
inline void play(const float* from, const ::Unit& unit, int at, int frames) noexcept {
    if (unit.mNumOutputs == 2)
        deinterleave(from, unit.mOutBuf[0] + at, unit.mOutBuf[1] + at, frames);
    else
        play_channels(from, unit, at, frames);
}

/// Asks for a half of the buffer. `frames`: at least as many as the unit plays in a block.
void ask(Player&, FileStream*, ::SndBuf&, FileStream::Kind, int32_t start, int frames) noexcept;

/// Takes a step towards the halves that were asked for, or forgets them. `frames` as for ask().
void go_on(Player&, FileStream*, ::SndBuf&, int frames) noexcept;

/// To be called in each block, before anything is played. The stream, or null. `frames` as for ask().
inline FileStream* attend(Player& player, ::SndBuf& buffer, int frames) noexcept {
    FileStream* const stream = stream_of(player);
    if (player.awaits_any()) [[unlikely]]
        go_on(player, stream, buffer, frames);
    return stream;
}

/// Whether any of the frames from `from` up to `to` of the buffer, which is seen as a circle, isn't there yet.
bool lacks(const Player&, const ::SndBuf&, int64_t from, int64_t to) noexcept;

/// Whether the player must wait for any of these frames.
inline bool waits_for(const Player& player, const FileStream* stream, const ::SndBuf& buffer, int64_t from,
                      int64_t to) noexcept {
    return stream && player.awaits_any() && lacks(player, buffer, from, to);
}

/// Plays silence for want of frames.
void wait(Player&, FileStream&, int frames) noexcept;

/// `position`: in the buffer, 0 or more.
template <class T>
bool ends_before(const ::SndBuf& buffer, T position) noexcept {
    return buffer.mask1 >= 0 && position >= T(buffer.mask1);
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/stream-player.hpp"

#include "engine/guard/fault-guard.hpp"

#include <algorithm>

namespace scs {
namespace {

/// Zeroes some of a half that was asked for of a buffer without a file; all of it by the time that it's played.
void zero_some(Player::Half& half, ::SndBuf& buffer, int frames) noexcept {
    const int count = std::min(frames, half.end - half.start);
    std::memset(buffer.data + size_t(half.start) * size_t(buffer.channels), 0,
                size_t(count) * size_t(buffer.channels) * sizeof(float));
    half.start += count;
}

/// Takes a step towards the halves that aren't there yet, the one first that was asked for first. `frames`: at least as
/// many as the unit plays in a block.
void pursue(Player& player, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    const FaultGuard::HostCode uninterrupted;
    for (Player::Half* half : {&player.halves[1 - player.latest], &player.halves[player.latest]}) {
        if (half->start == half->end)
            continue;
        if (!stream) {
            zero_some(*half, buffer, 2 * frames + 4);
            continue;
        }
        if (half->request == 0)
            half->request = stream->request(half->kind, half->start, half->end - half->start);
        if (half->request == 0)
            return;
        stream->take_answers([&](int32_t end) { buffer.mask = end; });
        if (stream->is_done(half->request))
            half->start = half->end;
    }
}

} // namespace

void play_channels(const float* from, const ::Unit& unit, int at, int frames) noexcept {
    const size_t channels = unit.mNumOutputs;
    float* const* out = unit.mOutBuf;
    if (channels == 1) {
        std::memcpy(out[0] + at, from, size_t(frames) * sizeof(float));
        return;
    }
    for (int done = 0; done < frames; ++done)
        for (size_t channel = 0; channel < channels; ++channel)
            out[channel][at + done] = *from++;
}

void ask(Player& player, FileStream* stream, ::SndBuf& buffer, FileStream::Kind kind, int32_t start,
         int frames) noexcept {
    // Where the file ends in the half that comes now; the units are done when they get there.
    if (buffer.mask >= 0)
        buffer.mask1 = buffer.mask;
    if (!stream)
        buffer.mask = start; // as if a file had ended
    player.asked = &buffer;
    player.serial = serial_of(stream);
    player.latest = start > 0;
    player.halves[player.latest] = {start, start + buffer.frames / 2, kind, 0};
    pursue(player, stream, buffer, frames);
}

void go_on(Player& player, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    // In another buffer, or one that was filled anew, nothing that was asked for is needed any more.
    if (serial_of(stream) != player.serial || player.asked != &buffer ||
        std::max(player.halves[0].end, player.halves[1].end) > buffer.frames) {
        for (Player::Half& half : player.halves)
            half.start = half.end = 0;
        return;
    }
    pursue(player, stream, buffer, frames);
}

bool lacks(const Player& player, const ::SndBuf& buffer, int64_t from, int64_t to) noexcept {
    for (const Player::Half& half : player.halves)
        if (half.start != half.end)
            for (const int64_t turn : {int64_t(-buffer.frames), int64_t(0), int64_t(buffer.frames)})
                if (from < half.end + turn && to > half.start + turn)
                    return true;
    return false;
}

void wait(Player& player, FileStream& stream, int frames) noexcept {
    clear(player, frames);
    count_late(player, stream.counts().silent, frames, "a file wasn't read in time: %llu frames of silence so far\n");
}

} // namespace scs

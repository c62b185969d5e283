// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <span>

namespace scs {

/// The largest factor by which a synth's sample rate may be that of the server.
inline constexpr int highest_factor = 16;

/// The blocks and the sample rate of a synth.
struct SynthRate {
    int frames =
        0; ///< of one of its blocks, at its own sample rate; a power of two, unless it is the server's own number
    int factor = 1; ///< its samples for each of the server's; a power of two, 1 … highest_factor

    bool operator==(const SynthRate&) const = default;
};

/// What a synth gets of what its definition asks for.
struct GrantedRate {
    SynthRate rate;
    float asked_frames = 0, asked_factor = 0;
    bool wrong_frames =
        false; ///< what was asked for can't be had: the server's blocks, or the longest possible, instead
    bool wrong_factor = false; ///< the same: the server's rate instead

    bool is_wrong() const noexcept { return wrong_frames || wrong_factor; }
};

/// [any] Whether a definition asks for anything.
constexpr bool asks(const OwnRate& own) noexcept {
    return own.block_size != 0 || own.resample != 0;
}

/// [any] What a synth with these controls gets from a server with blocks of `block` frames, 1 … 1024: powers of two,
/// and blocks that take no longer than the server's, which must be a power of two itself. 0 asks for nothing. The
/// indices of controls must be in range.
GrantedRate granted_rate(const OwnRate&, std::span<const float> controls, int block) noexcept SCS_NONBLOCKING;

/// [any] The most frames that a block of such a synth may have, whatever its controls are; at least `block`.
int most_frames(const OwnRate&, int block) noexcept;

/// [any] Whether it is what the server has, in all synths.
constexpr bool is_servers_own(const OwnRate& own, int block) noexcept {
    return (own.block_size == 0 || own.block_size == block) && (own.resample == 0 || own.resample == 1);
}

} // namespace scs

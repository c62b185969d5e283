// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace scs {

/// A buffer that a voice has for itself (LocalBuf). [rt]
struct OwnBuffer {
    float* data; ///< null: there was no memory for it
    int32_t frames, channels;
    bool clean;     ///< all samples are 0, as nothing has been written yet
    size_t cleared; ///< while it is being cleared, a piece after the other: how many samples are; else all or none
};

/// All that a voice has, in real-time memory: MaxLocalBufs claims it, and gives it back with what the buffers have.
/// Their numbers are Space::buffer_count and more. [rt]
struct OwnBuffers {
    int32_t count, most; ///< most: how many there is room for

    OwnBuffer* first() noexcept { return reinterpret_cast<OwnBuffer*>(this + 1); }
    /// The buffer with this number, counted from 0; null: there is none.
    OwnBuffer* find(int64_t number) noexcept { return number >= 0 && number < count ? first() + number : nullptr; }
    static constexpr size_t bytes(int32_t most) noexcept {
        return sizeof(OwnBuffers) + size_t(most) * sizeof(OwnBuffer);
    }
};

} // namespace scs

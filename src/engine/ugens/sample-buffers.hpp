// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Access to the engine's sample buffers, for interpolation between their frames.

#include "engine/simd/math.hpp"
#include "engine/ugens/buffer-place.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/interpolation.hpp"
#include "engine/ugens/own-buffers.hpp"

namespace scs::SCS_SIMD {

/// A voice's own buffer with this number; null: there is none, or no memory for it.
SCS_INLINE OwnBuffer* own_buffer_of(const Block& block, int lane, float number) {
    OwnBuffers* const buffers = block.space->own_buffers(block, lane);
    OwnBuffer* const found = buffers ? buffers->find(int64_t(int_of(number)) - block.space->buffer_count) : nullptr;
    return found && found->data ? found : nullptr;
}

/// The buffer with this number; the first one for negative numbers and NaN. If there is no buffer, `data` is null.
SCS_INLINE SampleBuffer buffer_of(const Block& block, int lane, float number) {
    const Space& space = *block.space;
    if (!(number < float(space.buffer_count))) {
        if (block.own_buffer) {
            if (number < 2147483648.f)
                return block.own_buffer(**block.synths, int32_t(number));
        } else if (const OwnBuffer* own = own_buffer_of(block, lane, number)) {
            return {own->data, own->frames, own->channels, block.audio->samples};
        }
        return number > 0.f ? SampleBuffer{} : space.buffer(space.buffers, 0);
    }
    return space.buffer(space.buffers, number > 0.f ? int32_t(number) : 0);
}

/// Makes a kernel from a lane kernel K<L> that calls buffer_of().
template <template <int> class K, template <int> class State>
constexpr Kernel buffer_kernel(KernelFunction start) {
    Kernel made = lane_kernel<K, State>(start);
    made.reads_buffers = true;
    return made;
}

SCS_INLINE double place_in(double place, double end, bool loop, bool& stopped) {
    return scs::place_in(place, end, loop, stopped, [](double x) SCS_INLINE_LAMBDA { return floor(F64<1>(x))[0]; });
}

/// The four frames around a place, and its distance from `at` towards `after`, 0 to 1.
struct Around {
    int64_t before, at, after, second;
    float part;

    /// `place`: a result of place_in(). For NaN all frames are outside of the buffer.
    SCS_INLINE Around(double place, int64_t frames, bool loop) {
        if (!(place >= 0. && place < 2147483647.)) {
            before = at = after = second = -1;
            part = 0.f;
            return;
        }
        at = int32_t(place);
        part = float(place - double(at));
        before = at - 1;
        after = at + 1;
        second = at + 2;
        if (at == 0) {
            before = loop ? frames - 1 : 0;
        } else if (at == frames - 2) {
            second = loop ? 0 : frames - 1;
        } else if (at > frames - 2) {
            after = loop ? after - frames : at;
            second = loop ? second - frames : at;
        }
        if (frames < 4)
            fit(frames, loop);
    }

    /// Brings the frames around a place into a buffer that has fewer than four.
    void fit(int64_t frames, bool loop) {
        for (int64_t* frame : {&before, &at, &after, &second})
            *frame = loop ? (*frame + 4 * frames) % frames : *frame < 0 ? 0 : *frame < frames ? *frame : frames - 1;
    }
};

/// A sample of one channel. Silence outside of the buffer.
SCS_INLINE float sample(const SampleBuffer& buffer, int64_t frame, int channel) {
    return uint64_t(frame) < uint64_t(buffer.frames) ? buffer.data[frame * buffer.channels + channel] : 0.f;
}

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What grains are made of: an envelope, and samples of a buffer.

#include "engine/ugens/sample-buffers.hpp"

namespace scs::SCS_SIMD {

constexpr double shortest_grain = 4; ///< frames

// ---- the envelope: half a sine, squared, or a buffer

struct GrainEnvelope {
    double b1, y1, y2, place, step;
    float height, number; ///< number: of the buffer; below 0: half a sine

    /// false: there is no such buffer. `frames`: how long it is.
    bool begin(const Block& block, float window, double frames) {
        number = window;
        if (window < 0.f) {
            constexpr double pi = 3.14159265358979323846;
            const double w = pi / frames;
            b1 = 2. * cos(F64<1>(w))[0];
            y1 = sin(F64<1>(w))[0];
            y2 = 0.;
            height = float(y1 * y1);
            return true;
        }
        SampleBuffer buffer;
        if (!find(block, buffer))
            return false;
        height = buffer.data[0];
        place = 0.;
        step = double(samples(buffer)) / frames;
        return true;
    }

    /// The heights of some frames. false: the buffer has gone.
    bool run(const Block& block, int frames, float* heights) {
        if (number < 0.f) {
            double one = y1, two = y2;
            for (int i = 0; i < frames; ++i) {
                heights[i] = float(one * one);
                const double next = b1 * one - two;
                two = one;
                one = next;
            }
            y1 = one;
            y2 = two;
            return true;
        }
        SampleBuffer buffer;
        if (!find(block, buffer))
            return false;
        const int64_t count = samples(buffer);
        for (int i = 0; i < frames; ++i) {
            heights[i] = height;
            place += step;
            const int64_t at = int_of(place);
            const int64_t after = place > double(buffer.frames - 1) ? at + 1 - count : at + 1;
            const auto sample = [&](int64_t k) { return uint64_t(k) < uint64_t(count) ? buffer.data[k] : 0.f; };
            height = linear(float(place - double(at)), sample(at), sample(after));
        }
        return true;
    }

private:
    static int64_t samples(const SampleBuffer& buffer) { return int64_t(buffer.frames) * buffer.channels; }
    bool find(const Block& block, SampleBuffer& buffer) const {
        if (!(number < float(block.space->buffer_count)))
            return false;
        buffer = block.space->buffer(block.space->buffers, int_of(number));
        return buffer.data && samples(buffer) > 0;
    }
};

// ---- samples of a buffer, round and round

SCS_INLINE double place_around(double x, double end) {
    if (x >= end) {
        x -= end;
        if (x < end)
            return x;
    } else if (x < 0.) {
        x += end;
        if (x >= 0.)
            return x;
    } else {
        return x;
    }
    return x - end * floor(F64<1>(x / end))[0];
}

/// Some frames of a channel from a place on, which moves by `rate`. `points`: 4 or more are interpolated by a cubic, 2
/// or 3 by a line. Silence where the place isn't finite. Place: its precision.
template <class Place>
SCS_INLINE void read_around(const SampleBuffer& buffer, int channel, Place& place, Place rate, int32_t points,
                            int frames, float* to) {
    const double end = buffer.frames;
    const int64_t step = buffer.channels, last_inside = int64_t(buffer.frames) - 3;
    for (int i = 0; i < frames; ++i, place += rate) {
        place = Place(place_around(double(place), end));
        const int64_t at = int_of(place);
        const auto part = float(double(place) - double(at));
        if (at >= 1 && at <= last_inside) { // mostly, and cheaper
            const float* const here = buffer.data + at * step + channel;
            to[i] = points >= 4   ? cubic(part, here[-step], here[0], here[step], here[2 * step])
                    : points >= 2 ? linear(part, here[0], here[step])
                                  : here[0];
            continue;
        }
        const auto value = [&](int64_t k) {
            return sample(buffer, k < 0 ? k + buffer.frames : k >= buffer.frames ? k - buffer.frames : k, channel);
        };
        if (at < 0)
            to[i] = 0.f;
        else if (points >= 4)
            to[i] = cubic(part, value(at - 1), value(at), value(at + 1), value(at + 2));
        else if (points >= 2)
            to[i] = linear(part, value(at), value(at + 1));
        else
            to[i] = value(at);
    }
}

} // namespace scs::SCS_SIMD

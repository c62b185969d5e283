// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand-unit.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/sample-buffers.hpp"

// Units at demand rate that read or write a frame of a buffer, in its first channel. Dbufwr writes only to a buffer
// that the voice has for itself; for another it is no kernel.

namespace scs::SCS_SIMD {
namespace {

/// The frame at a place, wrapped or kept within the buffer; -1: it is none, as the place isn't finite.
SCS_INLINE int64_t frame_at(float place, int32_t frames, float loop) {
    const bool loops = int_of(loop) != 0;
    bool stopped = false;
    const double at = place_in(double(place), frames - (loops ? 0 : 1), loops, stopped);
    return at >= 0. && at < double(frames) ? int64_t(at) : -1;
}

struct RestartsAll {
    template <class In>
    void begin(const In& in) {
        for (size_t i = 0; i < in.inputs(); ++i)
            in.restart(i);
    }
};

/// Inputs: buffer, phase, loop.
struct Dbufrd : RestartsAll {
    enum { buffer_number, phase, loops };

    template <class In>
    float next(const In& in) {
        const float loop = in.next(loops), number = in.next(buffer_number);
        if (is_no_number(number))
            return no_more;
        const SampleBuffer buffer = buffer_of(in.block(), in.pull().lane, number);
        if (!buffer.data)
            return 0.f;
        const float place = in.next(phase);
        return is_no_number(place) ? no_more : sample(buffer, frame_at(place, buffer.frames, loop), 0);
    }
};

/// Inputs: buffer, phase, value, loop.
struct Dbufwr : RestartsAll {
    enum { buffer_number, phase, value, loops };

    template <class In>
    float next(const In& in) {
        const float loop = in.next(loops);
        OwnBuffer* const to = own_buffer_of(in.block(), in.pull().lane, in.next(buffer_number));
        if (!to)
            return 0.f;
        const float place = in.next(phase);
        if (is_no_number(place))
            return no_more;
        const float written = in.next(value);
        if (is_no_number(written))
            return no_more;
        to->clean = false;
        if (const int64_t frame = frame_at(place, to->frames, loop); frame >= 0)
            to->data[frame * to->channels] = written;
        return written;
    }
};

constexpr Kernel reading = [] {
    Kernel made = demand_kernel<Dbufrd>();
    made.reads_buffers = true;
    return made;
}();

constexpr Kernel writing = [] {
    Kernel made = demand_kernel<Dbufwr>();
    made.writes_own_buffers = true;
    return made;
}();

constexpr NativeUgen list[] = {
    {"Dbufrd", choose_demand_kernel<reading, 3>},
    {"Dbufwr",
     [](const Signature& s) -> const Kernel* {
         return s.inputs.size() >= 4 && s.inputs[0].own_buffer ? choose_demand_kernel<writing, 4>(s) : nullptr;
     }},
};

} // namespace

SCS_FAMILY(demand_buffers)

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/fft.hpp"

#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/pool.hpp"
#include "engine/world/buffers.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fftw3.h>
#include <functional>
#include <mutex>
#include <new>
#include <vector>

namespace scs {
namespace {
/// What transforms of one size share.
struct Size {
    std::once_flag made;
    fftwf_plan forward, backward, backward_in_place;
    std::array<std::vector<float>, 2> windows; ///< sine, Hann
};
} // namespace
} // namespace scs

struct scfft {
    unsigned points, window_points;
    const scs::Size* size;
    const float* window; ///< null: rectangular
    float *in, *out, *work;
    int in_buffer, out_buffer; ///< the sample buffers that `in` and `out` lie in; -1: none
    float scale;
};

namespace scs {
namespace {

constexpr unsigned min_log2 = SC_FFT_LOG2_MINSIZE, max_log2 = SC_FFT_LOG2_ABSOLUTE_MAXSIZE;
constexpr size_t work_alignment = 128;

using Four = float __attribute__((vector_size(16)));

// scsynth computes its windows from pi in single precision. So do we, to get the same bits.
constexpr float single_pi = 3.14159265f, single_two_pi = 6.2831853f;

std::vector<float> sine_window(unsigned size) {
    std::vector<float> window(size);
    const double step = single_pi / float(size);
    for (unsigned i = 0; i < size; ++i)
        window[i] = float(std::sin(i * step));
    return window;
}

std::vector<float> hann_window(unsigned size) {
    std::vector<float> window(size);
    const double step = single_two_pi / float(size);
    for (unsigned i = 0; i < size; ++i)
        window[i] = float(0.5 - 0.5 * std::cos(i * step));
    return window;
}

void make(Size& size, unsigned points) {
    static std::mutex planning; // FFTW makes one plan at a time
    const std::scoped_lock alone(planning);
    float* a = fftwf_alloc_real(points + 2);
    float* b = fftwf_alloc_real(points + 2);
    auto* ca = reinterpret_cast<fftwf_complex*>(a);
    auto* cb = reinterpret_cast<fftwf_complex*>(b);
    size.forward = fftwf_plan_dft_r2c_1d(int(points), a, ca, FFTW_ESTIMATE);
    size.backward = fftwf_plan_dft_c2r_1d(int(points), cb, a, FFTW_ESTIMATE);
    size.backward_in_place = fftwf_plan_dft_c2r_1d(int(points), ca, a, FFTW_ESTIMATE);
    fftwf_free(a);
    fftwf_free(b);
    size.windows = {sine_window(points), hann_window(points)};
}

/// The parts for transforms of 2^log2 points; they are made at the first call.
const Size& of_size(unsigned log2) {
    static auto* sizes = new std::array<Size, max_log2 + 1>; // never freed, as plugins keep plans from it
    Size& size = (*sizes)[log2];
    std::call_once(size.made, make, std::ref(size), 1u << log2);
    return size;
}

/// The sample buffer that holds these samples, or -1: they are in memory of the synth's own. A unit knows of a buffer
/// by a number among its inputs, and takes the first one for any number that there isn't.
int buffer_of(const float* data, size_t samples) noexcept {
    PluginWorld* world = rendering_world();
    if (!world || world->pool().owns(data))
        return -1;
    const Buffers& buffers = world->buffers();
    for (const float* input : UnitGraph::running_inputs()) {
        const bool exists = *input >= 0.f && *input < float(buffers.count());
        if (const int index = exists ? int(*input) : 0; buffers.holds(index, data, samples))
            return index;
    }
    return -1;
}

/// Whether the buffer still holds these samples. UGens keep the address even if the buffer is freed or replaced.
bool still_in(int buffer, const float* data, size_t samples) noexcept {
    PluginWorld* world = rendering_world();
    return buffer < 0 || (world && world->buffers().holds(buffer, data, samples));
}

/// Multiplies all points, a multiple of four, with factors. factors(i) gives those of points i to i + 3.
template <class Factors>
void multiply(float* data, unsigned points, Factors&& factors) noexcept {
#pragma GCC unroll 4
    for (unsigned i = 0; i < points; i += 4) {
        Four four;
        std::memcpy(&four, data + i, sizeof four);
        four *= factors(i);
        std::memcpy(data + i, &four, sizeof four);
    }
}

/// Windows and scales `data`, and zeroes the points after the window.
void shape(float* data, const ::scfft& f) noexcept {
    if (f.window)
        multiply(data, f.window_points, [&](unsigned i) {
            Four four;
            std::memcpy(&four, f.window + i, sizeof four);
            return four;
        });
    if (f.scale != 1.f)
        multiply(data, f.window_points, [all = Four{} + f.scale](unsigned) { return all; });
    std::memset(data + f.window_points, 0, (f.points - f.window_points) * sizeof(float));
}

} // namespace

void fft_prepare() {
    for (unsigned n = min_log2; n <= max_log2; ++n)
        of_size(n);
}

::scfft* fft_create(size_t points, size_t window_points, SCFFT_WindowFunction type, float* in, float* out,
                    SCFFT_Direction direction, const SpectraMemory& memory) {
    if (!std::has_single_bit(points) || points < SC_FFT_MINSIZE || points > SC_FFT_ABSOLUTE_MAXSIZE)
        return nullptr;
    if (!std::has_single_bit(window_points) || window_points < SC_FFT_MINSIZE || window_points > points)
        return nullptr;
    // The Convolution units write whole blocks into half a spectrum, which may be shorter than a block.
    PluginWorld* world = rendering_world();
    if (world && type == kRectWindow && points < 2 * size_t(world->abi().world.abi.mBufLength) &&
        buffer_of(in, points) < 0 && buffer_of(out, points) < 0)
        return nullptr;
    void* chunk = memory.allocate(memory.user, sizeof(::scfft) + work_alignment + (points + 2) * sizeof(float));
    if (!chunk)
        return nullptr;
    const auto first_free = reinterpret_cast<uintptr_t>(chunk) + sizeof(::scfft);
    auto* work = reinterpret_cast<float*>((first_free + work_alignment - 1) / work_alignment * work_alignment);
    std::memset(work, 0, (points + 2) * sizeof(float));
    const bool windowed = type == kSineWindow || type == kHannWindow;
    return new (chunk)::scfft{
        unsigned(points),
        unsigned(window_points),
        &of_size(unsigned(std::countr_zero(points))),
        windowed ? of_size(unsigned(std::countr_zero(window_points))).windows[size_t(type)].data() : nullptr,
        in,
        out,
        work,
        buffer_of(in, points),
        buffer_of(out, points),
        direction == kForward ? 1.f : 1.f / float(points),
    };
}

void fft_forward(::scfft* f) {
    if (!still_in(f->in_buffer, f->in, f->window_points) || !still_in(f->out_buffer, f->out, f->points))
        return;
    std::memcpy(f->work, f->in, f->window_points * sizeof(float));
    shape(f->work, *f);
    fftwf_execute_dft_r2c(f->size->forward, f->work, reinterpret_cast<fftwf_complex*>(f->work));
    std::memcpy(f->out, f->work, f->points * sizeof(float));
    f->out[1] = f->work[f->points];
}

void fft_backward(::scfft* f) {
    if (!still_in(f->in_buffer, f->in, f->points) || !still_in(f->out_buffer, f->out, f->points))
        return;
    std::memcpy(f->work, f->in, f->points * sizeof(float));
    f->work[f->points] = f->work[1];
    f->work[1] = f->work[f->points + 1] = 0.f;
    auto* spectrum = reinterpret_cast<fftwf_complex*>(f->work);
    if (fftwf_alignment_of(f->out) == 0) {
        fftwf_execute_dft_c2r(f->size->backward, spectrum, f->out);
    } else {
        fftwf_execute_dft_c2r(f->size->backward_in_place, spectrum, f->work);
        std::memcpy(f->out, f->work, f->points * sizeof(float));
    }
    shape(f->out, *f);
}

void fft_destroy(::scfft* f, const SpectraMemory& memory) {
    memory.free(memory.user, f);
}

} // namespace scs

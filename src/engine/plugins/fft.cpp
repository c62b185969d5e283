// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/fft.hpp"

#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/rt/pool.hpp"
#include "engine/world/buffers.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fftw3.h>
#include <mutex>
#include <new>
#include <vector>

struct scfft {
    unsigned points, window_points, log2_points;
    const float* window; ///< null: rectangular
    float *in, *out, *work;
    int in_buffer, out_buffer; ///< the sample buffers that `in` and `out` lie in; -1: none
    float scale;
};

namespace scs {
namespace {

constexpr unsigned min_log2 = SC_FFT_LOG2_MINSIZE, max_log2 = SC_FFT_LOG2_MAXSIZE;
constexpr size_t work_alignment = 128;

using Four = float __attribute__((vector_size(16)));

struct Tables {
    struct Plans {
        fftwf_plan forward, backward, backward_in_place;
    };
    std::array<Plans, max_log2 + 1> plans{};
    std::array<std::array<std::vector<float>, max_log2 + 1>, 2> windows; ///< sine, Hann
};

Tables* tables = nullptr;

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

Tables::Plans make_plans(int size, float* a, float* b) {
    auto* ca = reinterpret_cast<fftwf_complex*>(a);
    auto* cb = reinterpret_cast<fftwf_complex*>(b);
    return {fftwf_plan_dft_r2c_1d(size, a, ca, FFTW_ESTIMATE), fftwf_plan_dft_c2r_1d(size, cb, a, FFTW_ESTIMATE),
            fftwf_plan_dft_c2r_1d(size, ca, a, FFTW_ESTIMATE)};
}

/// The sample buffer that holds these samples, or -1: they are in memory of the synth's own.
int buffer_of(const float* data, size_t samples) noexcept {
    PluginWorld* world = rendering_world();
    // Memory of the pool is in no buffer. Asking that first avoids a search through very many buffers.
    if (!world || world->pool().owns(data))
        return -1;
    return world->buffers().find(data, samples);
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

/// Windows and scales `data`, and zeroes the points behind the window.
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
    static std::once_flag once;
    std::call_once(once, [] {
        auto* made = new Tables; // never freed, as plugins keep plans from it
        const size_t largest = (size_t(1) << max_log2) + 2;
        float* a = fftwf_alloc_real(largest);
        float* b = fftwf_alloc_real(largest);
        for (unsigned n = min_log2; n <= max_log2; ++n) {
            made->plans[n] = make_plans(1 << n, a, b);
            made->windows[0][n] = sine_window(1u << n);
            made->windows[1][n] = hann_window(1u << n);
        }
        fftwf_free(a);
        fftwf_free(b);
        tables = made;
    });
}

::scfft* fft_create(size_t points, size_t window_points, SCFFT_WindowFunction type, float* in, float* out,
                    SCFFT_Direction direction, SCFFT_Allocator& memory) {
    if (!std::has_single_bit(points) || points < SC_FFT_MINSIZE || points > SC_FFT_MAXSIZE)
        return nullptr;
    if (!std::has_single_bit(window_points) || window_points < SC_FFT_MINSIZE || window_points > points)
        return nullptr;
    // The Convolution units write whole blocks into half a spectrum, which may be shorter than a block.
    PluginWorld* world = rendering_world();
    if (world && type == kRectWindow && points < 2 * size_t(world->abi().world.abi.mBufLength) &&
        buffer_of(in, points) < 0 && buffer_of(out, points) < 0)
        return nullptr;
    void* chunk = memory.alloc(sizeof(::scfft) + work_alignment + (points + 2) * sizeof(float));
    if (!chunk)
        return nullptr;
    const auto first_free = reinterpret_cast<uintptr_t>(chunk) + sizeof(::scfft);
    auto* work = reinterpret_cast<float*>((first_free + work_alignment - 1) / work_alignment * work_alignment);
    std::memset(work, 0, (points + 2) * sizeof(float));
    const bool windowed = type == kSineWindow || type == kHannWindow;
    return new (chunk)::scfft{
        unsigned(points),
        unsigned(window_points),
        unsigned(std::countr_zero(points)),
        windowed ? tables->windows[size_t(type)][size_t(std::countr_zero(window_points))].data() : nullptr,
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
    fftwf_execute_dft_r2c(tables->plans[f->log2_points].forward, f->work, reinterpret_cast<fftwf_complex*>(f->work));
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
    const Tables::Plans& plans = tables->plans[f->log2_points];
    if (fftwf_alignment_of(f->out) == 0) {
        fftwf_execute_dft_c2r(plans.backward, spectrum, f->out);
    } else {
        fftwf_execute_dft_c2r(plans.backward_in_place, spectrum, f->work);
        std::memcpy(f->out, f->work, f->points * sizeof(float));
    }
    shape(f->out, *f);
}

void fft_destroy(::scfft* f, SCFFT_Allocator& memory) {
    memory.free(f);
}

} // namespace scs

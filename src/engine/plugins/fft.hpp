// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/plugin-api.hpp"

// SuperCollider's FFT service for plugins over FFTW in single precision. Sizes are powers of two from 8 to 262144
// points; a window may be shorter than the transform (the rest is zeros). Spectra are packed as DC, Nyquist, then pairs
// of real and imaginary parts. Plans and windows are made once: all of them by fft_prepare(), which takes some 80 ms,
// or those of a size when it is first asked for, which is for offline rendering.

namespace scs {

/// [worker] Makes all plans and windows. Call before anything plays in real time; later calls do nothing.
void fft_prepare();

/// [rt, after fft_prepare()] Takes memory from `memory`. Null if there is none, or if the sizes aren't supported.
::scfft* fft_create(size_t points, size_t window_points, SCFFT_WindowFunction, float* in, float* out, SCFFT_Direction,
                    const SpectraMemory& memory);
/// [rt] in → window → spectrum → out.
void fft_forward(::scfft*);
/// [rt] in → signal → window → out, scaled to unity.
void fft_backward(::scfft*);
/// [rt]
void fft_destroy(::scfft*, const SpectraMemory& memory);

} // namespace scs

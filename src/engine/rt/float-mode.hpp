// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <cstdint>

namespace scs {

/// The processor's register that says how floating-point numbers are rounded, and whether denormals count.
#if defined(__SSE2__)
using FloatMode = unsigned;
constexpr FloatMode flushes_to_zero = 0x8000 | 0x0040; // results, and numbers that are read
#else
using FloatMode = uint64_t;
constexpr FloatMode flushes_to_zero = uint64_t(1) << 24; // both
#endif

/// [rt] That of this thread. 0 on processors that nothing is known of.
inline FloatMode float_mode() noexcept {
#if defined(__SSE2__)
    return _mm_getcsr();
#elif defined(__aarch64__)
    FloatMode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return 0;
#endif
}

/// [rt] Sets that of this thread.
inline void set_float_mode([[maybe_unused]] FloatMode mode) noexcept {
#if defined(__SSE2__)
    _mm_setcsr(mode);
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(mode) : "memory");
#endif
}

/// [rt] Treats denormal numbers as zero while it lives, as UGens expect, and restores the host's floating-point
/// state afterwards. (aarch64 tells a denormal result before rounding, x86-64 afterwards: one that is rounded up to the
/// smallest normal number is zero there, and that number here.)
class FlushToZero {
public:
    FlushToZero() noexcept : host_(float_mode()) { set_float_mode(host_ | flushes_to_zero); }
    ~FlushToZero() { set_float_mode(host_); }
    FlushToZero(const FlushToZero&) = delete;
    FlushToZero& operator=(const FlushToZero&) = delete;

private:
    FloatMode host_;
};

} // namespace scs

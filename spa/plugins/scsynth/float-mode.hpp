// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace scs::spa {

/// [rt] While it lives, denormal numbers are taken and given as zero; then the thread's mode is as it was.
class FlushDenormals {
public:
#if defined(__SSE2__)
    FlushDenormals() noexcept : before_(_mm_getcsr()) { _mm_setcsr(before_ | flush_to_zero | denormals_are_zero); }
    ~FlushDenormals() { _mm_setcsr(before_); }

private:
    static constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    unsigned before_;
#elif defined(__aarch64__)
    FlushDenormals() noexcept {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        asm volatile("msr fpcr, %0" : : "r"(before_ | flush_to_zero));
    }
    ~FlushDenormals() { asm volatile("msr fpcr, %0" : : "r"(before_)); }

private:
    static constexpr uint64_t flush_to_zero = uint64_t(1) << 24;
    uint64_t before_;
#else
    FlushDenormals() noexcept {}
    ~FlushDenormals() {}
#endif

public:
    FlushDenormals(const FlushDenormals&) = delete;
    FlushDenormals& operator=(const FlushDenormals&) = delete;
};

} // namespace scs::spa

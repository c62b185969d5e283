// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <cstdint>

namespace scs {

/// [rt] Treats denormal numbers as zero while it lives, as UGens expect, and restores the host's floating-point
/// state afterwards.
class FlushToZero {
public:
    FlushToZero(const FlushToZero&) = delete;
    FlushToZero& operator=(const FlushToZero&) = delete;
#if defined(__SSE2__)
    FlushToZero() noexcept : host_(_mm_getcsr()) {
        constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
        _mm_setcsr(host_ | flush_to_zero | denormals_are_zero);
    }
    ~FlushToZero() {
        _mm_setcsr(host_);
    }

private:
    unsigned host_;
#elif defined(__aarch64__)
    FlushToZero() noexcept {
        asm volatile("mrs %0, fpcr" : "=r"(host_));
        constexpr uint64_t flush_to_zero = uint64_t(1) << 24;
        asm volatile("msr fpcr, %0" ::"r"(host_ | flush_to_zero));
    }
    ~FlushToZero() {
        asm volatile("msr fpcr, %0" ::"r"(host_));
    }

private:
    uint64_t host_;
#else
    FlushToZero() noexcept = default;
#endif
};

} // namespace scs

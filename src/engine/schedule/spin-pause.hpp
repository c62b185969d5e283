// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// [any] Tells the processor that this thread waits in a loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

} // namespace scs

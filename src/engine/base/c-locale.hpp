// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <locale.h>

namespace scs {

/// While it lives, this thread prints and reads numbers as the C locale does ("0.25"), whatever locale the host program
/// has set for itself: clients and files get the same text everywhere. Constant time; no system call, no lock. [any]
class CLocale {
public:
    SCS_UNPROVEN_BEGIN // glibc writes a variable of the thread
    CLocale() noexcept SCS_NONBLOCKING : before_(uselocale(numbers())) {}
    ~CLocale() noexcept SCS_NONBLOCKING { uselocale(before_); }
    SCS_UNPROVEN_END
    CLocale(const CLocale&) = delete;
    CLocale& operator=(const CLocale&) = delete;

    /// Makes the locale, which allocates. To be called once a process, before the data loop uses it. [any]
    static void prepare() noexcept { (void)numbers(); }

private:
    /// The host's but for numbers. Without memory there is none, and the thread's stays.
    static locale_t numbers() noexcept {
        static const locale_t made = newlocale(LC_NUMERIC_MASK, "C", duplocale(LC_GLOBAL_LOCALE));
        return made;
    }

    locale_t before_;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>
#include <string_view>

namespace scs {

/// Why abort() was called, as far as that matters to a guard.
struct AbortCause {
    /// Nothing of the process but the code that called it is in doubt: a call by that code itself, a failed assertion,
    /// std::terminate(), a smashed stack, a buffer overflow that the C library noticed.
    bool contained;
    /// What the C library has printed; empty: nothing.
    std::string_view text;
};

/// [any] Finds out how to tell. To be called once, before the others.
void prepare_abort_cause() noexcept;

/// [any] To be called in the handler of SIGABRT. Async-signal-safe.
AbortCause abort_cause() noexcept;

/// [any] Whether the signal was raised by this thread itself, as abort() does. `context`: what the handler was given.
bool raised_by_this_thread(int signal, const siginfo_t&, const void* context) noexcept;

} // namespace scs

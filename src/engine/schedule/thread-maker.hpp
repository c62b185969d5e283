// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

namespace scs {

/// Starts threads, with the priority that the caller's work needs. [worker] but for urgency().
class ThreadMaker {
public:
    virtual ~ThreadMaker() = default;
    /// A thread, with the caller's mask of signals; null: it could not be started.
    virtual void* start(void* (*body)(void*), void* argument) = 0;
    /// Waits for its end.
    virtual void join(void* thread) noexcept = 0;

    enum class Urgency {
        never,   ///< these threads get no priority
        not_yet, ///< they may get it later
        urgent,
    };
    /// [a thread that it has started] Whether this thread has the priority that it needs.
    virtual Urgency urgency() const noexcept = 0;

    /// Plain threads, with the priority of the caller's: no higher one.
    static std::shared_ptr<ThreadMaker> plain();
};

} // namespace scs

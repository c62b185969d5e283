// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "host.hpp"
#include "rt-guard.hpp"
#include "stock-breaches.hpp"

#include <optional>

namespace scs::test {

/// While it lives, each process() of the host's nodes runs in an RtScope. System calls of the data thread stay trapped.
class Guarded {
public:
    explicit Guarded(Host& host) : host_(host) {
        host.data().run(guard_thread);
        host.before_process = [this] { scope_.emplace(); };
        host.after_process = [this] { scope_.reset(); };
        take_breaches();
    }
    ~Guarded() { host_.before_process = host_.after_process = nullptr; }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

private:
    Host& host_;
    std::optional<RtScope> scope_; ///< the data thread's
};

} // namespace scs::test

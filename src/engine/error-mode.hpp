// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// What /error sets: whether failures are answered. Owned by the data loop.
struct ErrorMode {
    bool global = true;
    int local = 0; ///< -1: off for the rest of this bundle, -2: on
    bool on() const noexcept { return local == 0 ? global : local == -2; }
};

} // namespace scs

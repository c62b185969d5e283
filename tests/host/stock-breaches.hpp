// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rt-guard.hpp"

namespace scs::test {

/// What unit generators of SuperCollider's own plugins do on the data loop although they may not. We run them as
/// they are shipped, so it's known and accepted. docs/realtime.md has the same list for readers.
inline const std::vector<Allowed>& stock_breaches() {
    static const std::vector<Allowed> all = {
    };
    return all;
}

} // namespace scs::test

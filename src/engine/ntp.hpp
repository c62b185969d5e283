// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// OSC time: seconds since 1900 in 32.32 fixed point.
using NtpTime = uint64_t;

/// The OSC time tag that means "now".
inline constexpr NtpTime immediately = 1;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace scs {

/// Bytes to keep between variables that different threads write, so that they don't share a line.
inline constexpr size_t cache_line = 64;

} // namespace scs

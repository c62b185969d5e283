// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace scs::spa {

using Version = std::array<int, 3>;

/// [main] That of the PipeWire in whose process this is; zeros if it is another host.
Version host_version();

} // namespace scs::spa

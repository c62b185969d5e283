// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/plugin-api.hpp"

namespace scs {

/// [any] The functions that plugins of that API call. There is one table each in a process; only that of v3 is what its
/// type says.
::InterfaceTable* interface_table(PluginApi api = PluginApi::v3);

} // namespace scs

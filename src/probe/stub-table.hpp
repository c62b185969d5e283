// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/plugin-api.hpp"

namespace scs {

/// What the load() of a plugin of that API gets of a server that isn't there: the tables of samples, memory from
/// malloc(), and functions that say that all is well and do nothing.
::InterfaceTable* stub_table(PluginApi);

} // namespace scs

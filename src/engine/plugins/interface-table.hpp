// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

namespace scs {

/// The functions that plugins call. There is one table a process.
::InterfaceTable* interface_table();

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

namespace scs {

/// What an interface table has without a server: the tables of samples, and memory from the C library. All else is
/// null. [any but rt]
::InterfaceTable base_table();

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/base/release.hpp"

#include <cstddef>

namespace scs {

/// [worker] Which release's plugins have this LFSaw, by what it does: until 3.13 the sample that its constructor
/// computes is lost, since 3.14 it is the first that is heard. `bytes`: the size of its unit.
Release probe_release(UnitCtorFunc construct_saw, size_t bytes);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/release.hpp"
#include "engine/plugins/plugin-units.hpp"

namespace scs {

/// [worker] Which release's plugins have this LFSaw, by what it does: until 3.13 the sample that its constructor
/// computes is lost, since 3.14 it is the first that is heard.
Release probe_release(const UgenEntry& saw);

} // namespace scs

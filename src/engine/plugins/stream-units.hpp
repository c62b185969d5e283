// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines DiskIn, VDiskIn and DiskOut, which stream files through buffers, in place of SuperCollider's, whose
/// plugin file isn't loaded: that one wakes a thread of its own from the data loop.
void define_stream_units(PluginRegistry&);

} // namespace scs

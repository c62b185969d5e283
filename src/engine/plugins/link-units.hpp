// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines LinkPhase, LinkTempo and LinkJump, which follow PluginWorld::link(), in place of SuperCollider's
/// (3.15), whose plugin file isn't loaded: that one has threads and sockets of its own.
void define_link_units(PluginRegistry&);

} // namespace scs

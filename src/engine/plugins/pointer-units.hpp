// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines MouseX, MouseY and MouseButton, which follow PluginWorld::pointer(), and KeyState, for which no key
/// is ever down, in place of SuperCollider's, whose plugin file isn't loaded: that one reads the X server from a thread
/// of its own.
void define_pointer_units(PluginRegistry&);

} // namespace scs

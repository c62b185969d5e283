// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines the units that stand in for those of plugins that are never loaded: MouseX, MouseY, MouseButton and
/// KeyState, which in SuperCollider read the X server from a thread of their own, give their minimum.
void define_stand_ins(PluginRegistry&);

} // namespace scs

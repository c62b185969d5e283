// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines MouseX, MouseY, MouseButton and KeyState, which in SuperCollider read the X server from a
/// thread of their own. A daemon must not: these give their minimum, as if nothing were touched.
void define_stand_ins(PluginRegistry&);

} // namespace scs

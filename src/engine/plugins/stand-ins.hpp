// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines stand-ins for units whose plugins are never loaded: MouseX, MouseY, MouseButton and KeyState give
/// their minimum. SuperCollider's read the X server from a thread of their own.
void define_stand_ins(PluginRegistry&);

} // namespace scs

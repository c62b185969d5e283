// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

namespace scs {

class PluginRegistry;
class PluginWorld;

/// [worker] Defines MouseX, MouseY, MouseButton and KeyState, which follow PluginWorld::pointer(), in place of
/// SuperCollider's, whose plugin file isn't loaded: that one reads the X server from a thread of its own.
void define_pointer_units(PluginRegistry&);

/// [rt] Something needs the pointer: unless a client tells of it, the log says once what does, and pw-scsynth does so
/// for the server that it has started.
void ask_for_pointer(PluginWorld&) noexcept SCS_NONBLOCKING;

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines SendTrig and SendReply in place of SuperCollider's, which don't say at which frame of the block
/// they were triggered; bindings need that.
void define_trigger_units(PluginRegistry&);

} // namespace scs

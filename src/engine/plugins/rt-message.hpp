// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

namespace scs {

class PluginWorld;

/// Sends a plugin's FIFO message to the worker, where it is performed, and back to the data loop, where its data is
/// freed. A crash in it ends it alone, here and below, and is told. [rt] false: out of real-time memory.
bool send_from_rt(PluginWorld&, const ::FifoMsg&) noexcept;

/// The reverse: performed on the data loop, freed on the worker. [worker or a plugin's own thread] false: the queue is
/// full; the data stays the plugin's, as in scsynth.
bool send_to_rt(PluginWorld&, const ::FifoMsg&) noexcept;

} // namespace scs

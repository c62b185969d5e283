// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// The client that a command came from, as the engine and plugins carry it.
struct ReplyTo {
    uint64_t outlet = 0; ///< its server: the number of a PluginOutlet; 0: none, nobody is answered
    uint64_t client = 0; ///< a value of the OSC side
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <pipewire/context.h>

#include <string>

namespace scs::module {

/// The data loop that PipeWire has for a node with these properties: to be given as `node.loop.name` to plugin and node
/// alike. Without a name each asks for a loop by itself, and where there are several (since PipeWire 1.2) they get two:
/// cycles would then run on another thread than all else that belongs between them. `scsynth.loop` counts before
/// `node.loop.name`. Empty if there is only one loop. [main]
Result<std::string> data_loop_for(pw_context* context, const spa_dict& properties);

/// Whether a daemon of this version has loops with names, one of which a client may ask for by `node.loop.name`. [any]
bool has_named_loops(const char* version);

} // namespace scs::module

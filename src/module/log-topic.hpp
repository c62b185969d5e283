// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/log.h>

namespace scs::module {

/// The module's own, "mod.scsynth". Initialised when the module is loaded.
extern spa_log_topic* const log_topic;

} // namespace scs::module

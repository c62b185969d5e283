// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/impl.h>
#include <spa/support/plugin.h>

namespace scs::module {

/// Offers the threads of this process, which have its data loop's priority, to the nodes of the plugin that `settings`
/// name. Returns what is to be unloaded when no more nodes are made; null if there are no such threads, as the process
/// has no libpipewire-module-rt, or if the plugin takes none. [main]
spa_handle* offer_threads(pw_context* context, const spa_dict& settings);

/// The same, as long as the module is loaded. [main]
void offer_threads(pw_impl_module* module, const spa_dict& settings);

} // namespace scs::module

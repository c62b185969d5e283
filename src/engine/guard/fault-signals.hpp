// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// Installs handlers that end guarded code (FaultGuard) for what it has caused. Any other signal goes to the handler
/// that was there before, or does what it does without one. Once a process. [any]
void install_fault_handlers();

} // namespace scs

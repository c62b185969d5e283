// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// Installs handlers that end guarded code (FaultGuard) for what it has caused. Any other signal goes to the handler
/// that was there before, or does what it does without one. Once a process. [any]
void install_fault_handlers();

/// From now on a plugin's code that calls exit() ends the process as a crash does, before the C library runs what was
/// to run at the process's end and was registered earlier: to be called again when plugins have been loaded. [worker]
void watch_exit() noexcept;

/// Ends the process as a crash of this thread does that nothing contains.
[[noreturn]] void end_process() noexcept;

} // namespace scs

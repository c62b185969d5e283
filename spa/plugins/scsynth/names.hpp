// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs::spa {

/// The node's factory, and the library that has it, below PipeWire's folder of plugins and without ".so": what a node's
/// factory.name and library.name are.
inline constexpr const char* factory_name = "audio.scsynth";
inline constexpr const char* library_name = "scsynth/libspa-scsynth";

} // namespace scs::spa

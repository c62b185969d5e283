// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace scs {

/// [any] Reads a SynthDef file or the blob of a /d_recv: SCgf version 1, 2 or 3 with any number of definitions. A
/// pure function. It allocates at most a small multiple of the size of its input. One malformed definition makes the
/// whole file an error, which names the definition, the unit, what is wrong and at which byte. As in scsynth, bytes
/// after the last definition are ignored, and in version 3 those between a definition's last known field and its end.
Result<std::vector<SynthDef>> read_synthdefs(std::span<const std::byte> bytes);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace scs {

/// [any] Reads a SynthDef file or the blob of a /d_recv: SCgf version 1 or 2 with any number of
/// definitions. A pure function over the bytes; what it allocates is bounded by a small multiple of
/// their number. One malformed definition makes the whole file an error, which names the
/// definition, the unit, what is wrong and at which byte. Bytes after the last definition are
/// ignored, as scsynth does.
Result<std::vector<SynthDef>> read_synthdefs(std::span<const std::byte> bytes);

} // namespace scs

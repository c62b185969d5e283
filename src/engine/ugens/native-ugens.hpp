// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <string_view>

namespace scs {

/// [any] The native UGens of the instruction set that the setting `simd` names (see parse_isa()). Without a set, there
/// are none.
const NativeUgens& native_ugens(std::string_view simd);

} // namespace scs

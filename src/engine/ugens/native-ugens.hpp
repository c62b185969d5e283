// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <string_view>

namespace scs {

/// [any] The native UGens of an instruction set, by the setting `simd` as parse_isa() reads it. Without a set, none.
const NativeUgens& native_ugens(std::string_view simd);

} // namespace scs

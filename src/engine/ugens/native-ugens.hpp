// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <string_view>

namespace scs {

/// [any] The native UGens for an instruction set: "auto" for the widest that this CPU has, or "sse2", "avx2", "avx512",
/// of which the widest that it has is taken.
const NativeUgens& native_ugens(std::string_view simd);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace scs {

/// [any] A bit for each input, up to the 64th, that this unit at audio rate reads sample by sample, although it may be
/// at another rate and has one number then. Of units that aren't SuperCollider's or sc3-plugins' that isn't known: all.
uint64_t block_inputs(std::string_view ugen);

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// Where a batch, a lone voice or a synth of plugins' units stands among what helpers compute. [rt]
struct AheadPlace {
    int32_t listed = -1; ///< its place in the AheadList for the next block; -1: none
    int32_t job = -1;    ///< computed ahead: which of the block's jobs it is, until its turn; -1: none
};

} // namespace scs

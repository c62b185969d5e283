// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/held-output.hpp"

namespace scs {

HeldOutput::HeldOutput(int lanes, int block_size)
    : lanes_(size_t(lanes)),
      frames_(size_t(block_size)),
      rows_(aligned_zeros<float>(slots * row_sets * lanes_ * frames_)),
      buses_(slots * row_sets * lanes_) {}

} // namespace scs

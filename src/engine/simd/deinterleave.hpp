// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// [any] Moves interleaved frames of two channels to `left` and `right`, which don't overlap with them.
void deinterleave(const float* from, float* left, float* right, int frames) noexcept;

} // namespace scs

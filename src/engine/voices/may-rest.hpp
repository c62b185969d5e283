// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <span>
#include <vector>

namespace scs {

struct Program;

/// [worker] Of each unit of a program, whether it may be at rest (rest.hpp): it is at control rate, has one output,
/// ends nothing, and depends on nothing but its state and inputs that are controls or such units' outputs. None if
/// there are too few for it to pay. kernels: of each unit; null for Control, and for plugins' units.
std::vector<bool> may_rest(const Program&, std::span<const Kernel* const> kernels, const NativeUgens&);

} // namespace scs

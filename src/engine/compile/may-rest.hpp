// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/kernel.hpp"

#include <span>
#include <vector>

namespace scs {

struct Program;

/// [worker] Of each unit of a program, whether it may be at rest (rest.hpp; among plugins' units:
/// plugins/graph-rest.cpp). It is at control rate, has one output and little state, ends nothing, and depends on
/// nothing but that state, controls, constants and the outputs of such units. None if there are too few for it to pay;
/// of very many only the first ones. kernels: of each unit; null for Control, and for plugins' units.
std::vector<bool> may_rest(const Program&, std::span<const Kernel* const> kernels, const NativeUgens&);

} // namespace scs

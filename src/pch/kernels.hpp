// SPDX-License-Identifier: GPL-3.0-or-later
// What all kernels include, compiled once for each instruction set: two thirds of what a small family takes. Only with
// meson's b_pch, which ./demo sets; ccache cannot keep what is compiled with it.
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

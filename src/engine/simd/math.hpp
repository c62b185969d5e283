// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Functions of numbers side by side. The same argument gives the same bits in every lane, for every number of lanes and
// every instruction set: nothing but IEEE's + − · / √ and operations on integers, in one order, without branches. (But
// for a NaN's sign and payload.) NaN gives NaN; infinite and huge arguments give what C's functions do, unless said
// otherwise. A zero's sign isn't always kept.
// Errors, relative to the exact result: of doubles 5·10⁻¹⁶ (powers: 4.5·10⁻¹⁵), of floats 0.51 units of the last place.
// Sine, cosine and tangent have that up to |x| = 10⁶; beyond, the error is as if x had been rounded once more, and from
// 2⁵⁰ on they are those of zero.

#include "engine/simd/math-units.hpp"

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Functions of vectors of numbers. The same argument gives the same bits (except for a NaN's sign and payload) in every
// lane, for every number of lanes and every instruction set: they use only IEEE's + − · / √ and operations on integers,
// in one order, without branches. NaN gives NaN. Infinite and huge arguments give what C's functions do, unless a
// function says otherwise. A zero's sign isn't always kept. Errors, relative to the exact result: of doubles 5·10⁻¹⁶
// (powers: 4.5·10⁻¹⁵), of floats 0.51 units of the last place. Sine, cosine and tangent have that up to |x| = 10⁶;
// beyond, the error is as if x had been rounded once more, and from 2⁵⁰ on they are those of zero.

#include "engine/simd/math-units.hpp"

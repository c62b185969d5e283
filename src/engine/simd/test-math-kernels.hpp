// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The functions of math.hpp as compiled for an instruction set, behind pointers: what test-math.cpp may call.

namespace scs {

/// `count`, a multiple of 16, results of arguments x and, where there are two, y; all of the type that the table's name
/// says.
using MathLoop = void (*)(const void* x, const void* y, void* result, int count);

struct MathKernel {
    const char* name; ///< null ends a table
    MathLoop wide;    ///< computed `lanes` at once
    MathLoop lone;    ///< one by one
};

struct MathTables {
    const MathKernel* doubles;
    const MathKernel* floats;
    const MathKernel* phases;   ///< uint32 to float
    const MathKernel* integers; ///< float to int32
};

#define SCS_TABLES(set)                                                                                                \
    namespace set {                                                                                                    \
    extern const MathTables math_tables;                                                                               \
    }
SCS_TABLES(plain)
SCS_TABLES(sse2)
SCS_TABLES(avx2)
SCS_TABLES(avx512)
#undef SCS_TABLES

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#if defined(__clang__) && __clang_major__ >= 20

/// After a function's noexcept: the render path may call it ([rt]). Clang 20 and later prove that it, and all that it
/// calls, allocates nothing, locks nothing and throws nothing. `tools/nonblocking.py` asks them.
#define SCS_NONBLOCKING [[clang::nonblocking]]

/// Around declarations or statements of the render path that Clang can't prove; beside them stands why they are right.
#define SCS_UNPROVEN_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wfunction-effects\"")
#define SCS_UNPROVEN_END _Pragma("clang diagnostic pop")

#else
#define SCS_NONBLOCKING
#define SCS_UNPROVEN_BEGIN
#define SCS_UNPROVEN_END
#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace scs {

/// Instruction sets that kernels are compiled for, each wider than the one before. `plain` is what every CPU of the
/// architecture has: SSE2 on x86-64.
enum class Isa { plain, avx2, avx512 };

/// [any] Whether this CPU has it and the operating system saves its registers.
bool isa_supported(Isa isa) noexcept;

/// [any] The widest that this CPU has.
Isa widest_isa() noexcept;

/// [any] "auto" is the widest this CPU has, as is "avx2" or "avx512" where that is more than it has; "sse2" is `plain`
/// on any architecture. False, with `isa` untouched, for any other name.
bool parse_isa(std::string_view name, Isa& isa) noexcept;

/// [any] As parse_isa reads it, but "plain" where `plain` isn't SSE2.
const char* isa_name(Isa isa) noexcept;

} // namespace scs

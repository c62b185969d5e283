// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace scs {

/// Instruction sets that kernels can be compiled for, each wider than the one before. `plain` is what every CPU of the
/// architecture has: SSE2 on x86-64, NEON on aarch64. A build has all of its architecture's, or one (meson's `simd`).
enum class Isa { plain, sse2 = plain, avx2, avx512 };

/// [any] Whether this CPU has it and the operating system saves its registers.
bool isa_supported(Isa isa) noexcept;

/// [any] Whether this build has kernels for it.
bool isa_built(Isa isa) noexcept;

/// [any] The widest that this build has and this CPU supports; `plain`, perhaps not built, if there is none.
Isa widest_isa() noexcept;

/// [any] What is the fastest for most pieces: the widest, but AVX2 in place of AVX-512 where it is built. In a piece
/// hardly ever as many voices are equal as AVX-512 has lanes (docs/performance.md).
Isa usual_isa() noexcept;

/// [any] The set of kernels for a name. "auto" is usual_isa() of this CPU. "sse2", "avx2" and "avx512"
/// must be built; if the CPU lacks the set, the result is the widest built one below. "sse2" and "plain" both mean
/// `plain`. false, with `isa` untouched: another name, or no set is left.
bool parse_isa(std::string_view name, Isa& isa) noexcept;

/// [any] The name that parse_isa() reads, but "plain" where `plain` isn't SSE2.
const char* isa_name(Isa isa) noexcept;

/// [any] The names that parse_isa() accepts here, for error messages: "auto, sse2, avx2 or avx512".
std::string isa_choices();

} // namespace scs

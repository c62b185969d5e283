// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/isa.hpp"

#include <algorithm>

namespace scs {

bool isa_supported([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
    // What meson.build compiles each with.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    switch (isa) {
    case Isa::plain:
        return true;
    case Isa::avx2:
        return avx2;
    case Isa::avx512:
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    }
    return false;
#else
    return isa == Isa::plain;
#endif
}

Isa widest_isa() noexcept {
    if (isa_supported(Isa::avx512))
        return Isa::avx512;
    return isa_supported(Isa::avx2) ? Isa::avx2 : Isa::plain;
}

bool parse_isa(std::string_view name, Isa& isa) noexcept {
    if (name == "auto")
        isa = widest_isa();
    else if (name == "sse2" || name == "plain")
        isa = Isa::plain;
    else if (name == "avx2")
        isa = std::min(Isa::avx2, widest_isa());
    else if (name == "avx512")
        isa = std::min(Isa::avx512, widest_isa());
    else
        return false;
    return true;
}

const char* isa_name(Isa isa) noexcept {
    switch (isa) {
    case Isa::avx2:
        return "avx2";
    case Isa::avx512:
        return "avx512";
    case Isa::plain:
        break;
    }
#if defined(__x86_64__)
    return "sse2";
#else
    return "plain";
#endif
}

} // namespace scs

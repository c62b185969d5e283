// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/isa.hpp"

#include <algorithm>
#include <iterator>

namespace scs {
namespace {

#define SCS_ISA(name) Isa::name,
constexpr Isa built[] = {SCS_SIMD_SETS(SCS_ISA)}; // narrowest first
#undef SCS_ISA

/// The widest that is built and supported and at most `most`, or null.
const Isa* widest_up_to(Isa most) noexcept {
    for (const Isa* isa = std::end(built); isa != std::begin(built);)
        if (*--isa <= most && isa_supported(*isa))
            return isa;
    return nullptr;
}

} // namespace

bool isa_supported([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
    // What meson.build compiles each with.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    switch (isa) {
    case Isa::plain: return true;
    case Isa::avx2: return avx2;
    case Isa::avx512:
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    }
    return false;
#else
    return isa == Isa::plain;
#endif
}

bool isa_built(Isa isa) noexcept {
    return std::find(std::begin(built), std::end(built), isa) != std::end(built);
}

Isa widest_isa() noexcept {
    const Isa* widest = widest_up_to(Isa::avx512);
    return widest ? *widest : Isa::plain;
}

Isa usual_isa() noexcept {
    return isa_built(Isa::avx2) && isa_supported(Isa::avx2) ? Isa::avx2 : widest_isa();
}

bool parse_isa(std::string_view name, Isa& isa) noexcept {
    Isa most;
    if (name == "auto")
        most = usual_isa();
    else if (name == "sse2" || name == "plain")
        most = Isa::plain;
    else if (name == "avx2")
        most = Isa::avx2;
    else if (name == "avx512")
        most = Isa::avx512;
    else
        return false;
    const Isa* found = name == "auto" || isa_built(most) ? widest_up_to(most) : nullptr;
    if (found)
        isa = *found;
    return found;
}

const char* isa_name(Isa isa) noexcept {
    switch (isa) {
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
    case Isa::plain: break;
    }
#if defined(__x86_64__)
    return "sse2";
#else
    return "plain";
#endif
}

std::string isa_choices() {
    if (!widest_up_to(Isa::avx512))
        return std::string("a build for this CPU, which hasn't ") + isa_name(built[0]);
    std::string choices = "auto";
    for (const Isa& isa : built)
        choices += std::string(&isa == std::end(built) - 1 ? " or " : ", ") + isa_name(isa);
    return choices;
}

} // namespace scs

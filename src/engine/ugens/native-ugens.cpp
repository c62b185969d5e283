// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/native-ugens.hpp"

namespace scs {

#define SCS_SET(name)                                                                                                  \
    namespace name {                                                                                                   \
    const NativeUgens& native_ugens();                                                                                 \
    }
SCS_SIMD_SETS(SCS_SET)
#undef SCS_SET

const Kernel* NativeUgens::find(std::string_view name, const Signature& signature) const noexcept {
    for (const auto& family : families)
        for (const NativeUgen& ugen : family)
            if (ugen.name == name)
                return ugen.choose(signature);
    return nullptr;
}

const NativeUgens& native_ugens(std::string_view simd) {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (avx512 && (simd == "auto" || simd == "avx512"))
        return avx512::native_ugens();
    if (avx2 && simd != "sse2")
        return avx2::native_ugens();
    return sse2::native_ugens();
#else
    (void)simd;
    return plain::native_ugens();
#endif
}

} // namespace scs

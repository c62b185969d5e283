// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/native-ugens.hpp"

#include "engine/simd/isa.hpp"

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
                if (const Kernel* kernel = ugen.choose(signature))
                    return kernel;
    return nullptr;
}

const NativeUgens& native_ugens(std::string_view simd) {
    Isa isa = Isa::plain;
    (void)parse_isa(simd, isa); // settings have been checked
#if SCS_WIDE_SETS
    switch (isa) {
    case Isa::avx512: return avx512::native_ugens();
    case Isa::avx2: return avx2::native_ugens();
    case Isa::plain: return sse2::native_ugens();
    }
    __builtin_unreachable();
#else
    return plain::native_ugens();
#endif
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/native-ugens.hpp"

#include "engine/simd/isa.hpp"
#include "engine/ugens/kernel-pairs.hpp"

namespace scs {

#define SCS_SET(name)                                                                                                  \
    namespace name {                                                                                                   \
    const NativeUgens& native_ugens();                                                                                 \
    KernelFunction pair_of(const Kernel&) noexcept;                                                                    \
    }
SCS_SIMD_SETS(SCS_SET)
#undef SCS_SET

const Kernel* NativeUgens::find(std::string_view name, const Signature& signature) const noexcept {
    for (const auto& family : families)
        for (const NativeUgen& ugen : family)
            if (ugen.name == name && ugen.choose)
                if (const Kernel* kernel = ugen.choose(signature))
                    return kernel;
    return nullptr;
}

Gives NativeUgens::gives(std::string_view name) const noexcept {
    const NativeUgen* row = first_row(name, [](const NativeUgen& ugen) { return ugen.gives != Gives::nothing; });
    return row ? row->gives : Gives::nothing;
}

bool NativeUgens::oscillates(std::string_view name) const noexcept {
    return first_row(name, [](const NativeUgen& ugen) { return ugen.oscillates; });
}

template <class Fits>
const NativeUgen* NativeUgens::first_row(std::string_view name, Fits&& fits) const noexcept {
    for (const auto& family : families)
        for (const NativeUgen& ugen : family)
            if (ugen.name == name && fits(ugen))
                return &ugen;
    return nullptr;
}

const NativeUgens& native_ugens(std::string_view simd) {
    static const NativeUgens none{1, {}};
    Isa isa;
    if (!parse_isa(simd, isa))
        return none;
#define SCS_SET(name)                                                                                                  \
    if (isa == Isa::name)                                                                                              \
        return name::native_ugens();
    SCS_SIMD_SETS(SCS_SET)
#undef SCS_SET
    return none;
}

KernelFunction pair_of(const Kernel& kernel) noexcept {
#define SCS_SET(name)                                                                                                  \
    if (const KernelFunction found = name::pair_of(kernel))                                                            \
        return found;
    SCS_SIMD_SETS(SCS_SET)
#undef SCS_SET
    return nullptr;
}

} // namespace scs

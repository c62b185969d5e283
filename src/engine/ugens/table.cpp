// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/lanes.hpp"
#include "engine/ugens/kernel-pairs.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "ugen-families.hpp" // SCS_FAMILIES(family), written by meson.build

namespace scs::SCS_SIMD {

#define SCS_DECLARE(name) extern const std::span<const NativeUgen> name;
SCS_FAMILIES(SCS_DECLARE)
#undef SCS_DECLARE
#define SCS_DECLARE(name) extern const std::span<const KernelPair> name##_pairs;
SCS_FAMILIES_WITH_PAIRS(SCS_DECLARE)
#undef SCS_DECLARE

const NativeUgens& native_ugens() {
    make_sine_tables();
#define SCS_LIST(name) name,
    static const std::span<const NativeUgen> families[] = {SCS_FAMILIES(SCS_LIST)};
#undef SCS_LIST
    static const NativeUgens all{lanes, families};
    return all;
}

/// [any] The function for this kernel, if it is one of this instruction set.
KernelFunction pair_of(const Kernel& kernel) noexcept {
#define SCS_LIST(name) name##_pairs,
    for (const std::span<const KernelPair> family : {SCS_FAMILIES_WITH_PAIRS(SCS_LIST)})
#undef SCS_LIST
        for (const KernelPair& pair : family)
            if (pair.kernel == &kernel)
                return pair.run;
    return nullptr;
}

} // namespace scs::SCS_SIMD

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/lanes.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "ugen-families.hpp" // SCS_FAMILIES(family), written by meson.build

namespace scs::SCS_SIMD {

#define SCS_DECLARE(name) extern const std::span<const NativeUgen> name;
SCS_FAMILIES(SCS_DECLARE)
#undef SCS_DECLARE

const NativeUgens& native_ugens() {
    make_sine_tables();
#define SCS_LIST(name) name,
    static const std::span<const NativeUgen> families[] = {SCS_FAMILIES(SCS_LIST)};
#undef SCS_LIST
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD

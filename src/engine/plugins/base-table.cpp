// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/base-table.hpp"

#include "engine/plugins/sine-tables.hpp"

#include <cstdlib>

namespace scs {

::InterfaceTable base_table() {
    static SineTables sines;
    ::InterfaceTable t{};
    t.mSineSize = SineTables::size;
    t.mSineWavetable = sines.wavetable.data();
    t.mSine = sines.sine.data();
    t.mCosecant = sines.cosecant.data();
    t.fNRTAlloc = std::malloc;
    t.fNRTRealloc = std::realloc;
    t.fNRTFree = std::free;
    return t;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rt-guard.hpp"

namespace scs::test {

/// Breaches of unit generators in SuperCollider's own plugins on the data loop. We run the plugins as they are shipped,
/// so these are known and accepted. docs/realtime.md has the same list for readers. SuperCollider's own end with .so
/// or, since 3.15, with .scx.
inline const std::vector<Allowed>& stock_breaches() {
    const char* const membrane = "MembraneCircle and MembraneHexagon allocate and free their mesh";
    static const std::vector<Allowed> all = {
        {"printf", "ML_UGens.s", "BeatTrack prints when the sample rate isn't 44100 Hz"},
        {"puts", "DelayUGens.s", "LocalBuf warns when it has no MaxLocalBufs with room for it"},
        {"puts", "FFT_UGens.s", "PartConv says that its spectra aren't there"},
        {"puts", "PV_ThirdParty.s", "Convolution2 and its like say that their kernel isn't there"},
        {"calloc", "MembraneUGens.so", membrane},
        {"free", "MembraneUGens.so", membrane},
    };
    return all;
}

} // namespace scs::test

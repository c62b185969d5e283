// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"

namespace scs::osc::testing {

/// The UGen TestCalm does nothing, so that synths of it stay.
inline void define_calm() {
    PluginRegistry::instance().define_unit(
        "TestCalm", sizeof(::Unit), [](::Unit* unit) { unit->mCalcFunc = [](::Unit*, int) {}; }, nullptr, 0);
}

} // namespace scs::osc::testing

// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests: "Endless" never comes back from its block.
#include "engine/plugins/abi.hpp"

namespace {

void run_for_ever(::Unit*, int) {
    for (volatile bool more = true; more;) {
    }
}

void construct(::Unit* unit) {
    unit->mCalcFunc = run_for_ever;
}

} // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int api_version() {
    return 3;
}

EXPORT int server_type() {
    return sc_server_supernova;
}

EXPORT void load(::InterfaceTable* table) {
    table->fDefineUnit("Endless", sizeof(::Unit), construct, nullptr, 0);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests: "Endless" never comes back from its block, "Scribble" writes over its neighbours.
#include "engine/abi/abi.hpp"

#include <cstring>

namespace {

void run_for_ever(::Unit*, int) {
    for (volatile bool more = true; more;) {
    }
}

void construct_endless(::Unit* unit) {
    unit->mCalcFunc = run_for_ever;
}

/// Overwrites the real-time memory behind the unit.
void construct_scribble(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    std::memset(unit + 1, 3, 65536);
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
    table->fDefineUnit("Endless", sizeof(::Unit), construct_endless, nullptr, 0);
    table->fDefineUnit("Scribble", sizeof(::Unit), construct_scribble, nullptr, 0);
}

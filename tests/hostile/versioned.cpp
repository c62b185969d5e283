// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin for the tests, in several versions: its UGen plays VALUE, which its block, not its constructor, reads;
// its command and its buffer generator set control bus 0 and a buffer's first sample to it. All have the name UNIT. API
// is the plugin API's version that it claims to be of. WITHOUT_COMMAND: it has no command.
#include "engine/abi/abi.hpp"

#include <dlfcn.h>

#ifndef API
#define API 3
#endif

static volatile float value = VALUE;

static void play(::Unit* unit, int frames) {
    for (int i = 0; i < frames; ++i)
        unit->mOutBuf[0][i] = value;
}

static void construct(::Unit* unit) {
    unit->mCalcFunc = play;
    unit->mOutBuf[0][0] = 0;
}

[[maybe_unused]] static void set_bus(::World* world, void*, ::sc_msg_iter*, void*) {
    world->mControlBus[0] = value;
}

static void set_buffer(::World*, ::SndBuf* buffer, ::sc_msg_iter*) {
    buffer->data[0] = value;
}

#define EXPORT extern "C" [[gnu::visibility("default")]]

#ifdef SEEKS_COMPANIONS
EXPORT const char* own_path() {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(play), &info) ? info.dli_fname : "";
}
#endif

EXPORT int api_version() {
    return API;
}

EXPORT void load(::InterfaceTable* table) {
    table->fDefineUnit(UNIT, sizeof(::Unit), construct, nullptr, 0);
#ifndef WITHOUT_COMMAND
    table->fDefinePlugInCmd(UNIT, set_bus, nullptr);
#endif
    table->fDefineBufGen(UNIT, set_buffer);
}

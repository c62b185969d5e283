// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/stub-table.hpp"

#include "engine/plugins/base-table.hpp"

#include <type_traits>

namespace scs {
namespace {

/// A function of that type that does nothing; it returns true, or else nothing.
template <class Function>
struct Idle;
template <class Value, class... Arguments>
struct Idle<Value (*)(Arguments...)> {
    static Value call(Arguments...) {
        if constexpr (std::is_same_v<Value, bool>)
            return true;
        else
            return Value();
    }
};

template <class... Functions>
void make_idle(Functions&... functions) {
    ((functions = Idle<Functions>::call), ...);
}

int print_nothing(const char*, ...) {
    return 0;
}

::InterfaceTable make_table() {
    ::InterfaceTable t = base_table();
    t.fPrint = print_nothing;
    make_idle(t.fRanSeed, t.fDefineUnit, t.fDefinePlugInCmd, t.fDefineUnitCmd, t.fDefineBufGen, t.fClearUnitOutputs,
              t.fRTAlloc, t.fRTRealloc, t.fRTFree, t.fNodeRun, t.fNodeEnd, t.fSendTrigger, t.fSendNodeReply,
              t.fSendMsgFromRT, t.fSendMsgToRT, t.fSndFileFormatInfoFromStrings, t.fGetNode, t.fGetGraph, t.fNRTLock,
              t.fNRTUnlock, t.fGroup_DeleteAll, t.fDoneAction, t.fDoAsynchronousCommand, t.fBufAlloc, t.fSCfftCreate,
              t.fSCfftDoFFT, t.fSCfftDoIFFT, t.fSCfftDestroy, t.fGetScopeBuffer, t.fPushScopeBuffer,
              t.fReleaseScopeBuffer);
    return t;
}

} // namespace

::InterfaceTable* stub_table(PluginApi api) {
    static ::InterfaceTable v3 = make_table();
    static TableOf315 later = [] {
        FunctionsOf315 more;
        make_idle(more.define_unit_command, more.do_asynchronous, more.do_asynchronous_of_unit, more.fft_create,
                  more.fft_destroy);
        return TableOf315(v3, more);
    }();
    return api == PluginApi::v3 ? &v3 : later.get();
}

} // namespace scs

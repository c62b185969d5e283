// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/lasting-world.hpp"

#include <deque>

namespace scs {

LastingWorld& LastingWorld::make() {
    static std::mutex mutex;
    static auto* const all = new std::deque<LastingWorld>;
    const std::lock_guard lock(mutex);
    LastingWorld& made = all->emplace_back();
    for (AbiWorld& each : made.worlds)
        each.lasting = &made;
    return made;
}

void LastingWorld::end() noexcept {
    const std::lock_guard lock(owned);
    for (AbiWorld& each : worlds) {
        ::World& w = each.abi;
        w.mRunning = false;
        w.mNumSndBufs = 0;
        w.mSndBufs = w.mSndBufsNonRealTimeMirror = no_buffers;
        w.mSndBufUpdates = no_updates;
        w.mAudioBus = w.mControlBus = nullptr;
        w.mAudioBusTouched = w.mControlBusTouched = nullptr;
        w.mNumAudioBusChannels = w.mNumControlBusChannels = 0;
        w.mRGen = nullptr;
        w.mNumRGens = 0;
        each.owner = nullptr;
    }
}

} // namespace scs

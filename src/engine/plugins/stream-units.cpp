// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/stream-units.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/stream-unit.hpp"
#include "engine/world/buffers.hpp"

namespace scs {

void change_buffer(StreamUnit& unit) noexcept {
    const float number = unit.number = unit.in(0);
    const auto index = number >= 0 && number < 16777216.f ? uint32_t(number) : 0u;
    const ::World& world = *unit.mWorld;
    const ::Graph& graph = *unit.mParent;
    unit.own = index >= world.mNumSndBufs && int64_t(index) - world.mNumSndBufs < graph.localBufNum;
    if (unit.own)
        unit.buffer = graph.mLocalSndBufs + (index - world.mNumSndBufs);
    else
        unit.buffer = world.mSndBufs + (index < world.mNumSndBufs ? index : 0);
}

void count_late(StreamUnit& unit, std::atomic<uint64_t>& count, int frames, const char* what) noexcept {
    const FaultGuard::HostCode whole;
    PluginWorld& world = owner_of(unit.mWorld);
    const uint64_t total = count.fetch_add(uint64_t(frames), std::memory_order_relaxed) + uint64_t(frames);
    const double blocks = 10 * unit.mWorld->mSampleRate / unit.mWorld->mBufLength;
    if (!world.buffers().streams().may_report(unit.mWorld->mBufCounter, uint32_t(blocks)))
        return;
    TextLine line;
    line.add(what, (unsigned long long)total);
    world.outbox().print(line.take());
}

void define_stream_units(PluginRegistry& registry) {
    define_stream_readers(registry);
    define_stream_writers(registry);
}

} // namespace scs

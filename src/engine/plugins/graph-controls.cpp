// SPDX-License-Identifier: GPL-3.0-or-later
// A UnitGraph's controls.
#include "engine/plugins/graph-instance.hpp"

namespace scs {

bool UnitGraph::is_mapped(int index) const noexcept {
    return Instance::of(this).graph().mControlRates[index] != int(Mapping::none);
}

int UnitGraph::control_count() const noexcept {
    return int(Instance::of(this).graph().mNumControls);
}

float UnitGraph::control(int index) const noexcept {
    return Instance::of(this).graph().mControls[index];
}

void UnitGraph::set_control(int index, float value) noexcept {
    unmap(index); // which wakes all units
    Instance::of(this).graph().mControls[index] = value;
}

void UnitGraph::map_to_control_bus(int index, int bus) noexcept {
    Instance::of(this).wake();
    ::Graph& graph = Instance::of(this).graph();
    graph.mControlRates[index] = int(Mapping::control);
    graph.mMapControls[index] = graph.mNode.mWorld->mControlBus + bus;
}

void UnitGraph::map_to_audio_bus(int index, int bus) noexcept {
    Instance::of(this).wake();
    ::Graph& graph = Instance::of(this).graph();
    const ::World& w = *graph.mNode.mWorld;
    graph.mControlRates[index] = int(Mapping::audio);
    graph.mAudioBusOffsets[index] = bus;
    graph.mMapControls[index] = w.mAudioBus + size_t(bus) * size_t(w.mBufLength);
}

void UnitGraph::unmap(int index) noexcept {
    Instance::of(this).wake();
    ::Graph& graph = Instance::of(this).graph();
    graph.mControlRates[index] = int(Mapping::none);
    graph.mMapControls[index] = graph.mControls + index;
}

Mapping UnitGraph::mapping(int index, int& bus) const noexcept {
    const ::Graph& graph = Instance::of(this).graph();
    const auto kind = Mapping(graph.mControlRates[index]);
    if (kind == Mapping::audio)
        bus = graph.mAudioBusOffsets[index];
    else if (kind == Mapping::control)
        bus = int(graph.mMapControls[index] - graph.mNode.mWorld->mControlBus);
    return kind;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/control-writer.hpp"

#include "engine/ensemble/ensemble.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/tree/controls.hpp"
#include "engine/world/buses.hpp"

#include <cmath>

namespace scs {
namespace {

/// What a zero becomes, see TurnFacts::gate_controls.
float zero_for(const Synth& synth, int index, float zero, WhenSet when) noexcept {
    const bool started = synth.voice ? synth.voice->constructed : synth.graph->constructed();
    if (started || !synth.facts->is_gate(index))
        return zero;
    const float now = synth.voice ? synth.voice->set_values()[index] : synth.graph->control(index);
    const bool was_open = now > 0.f || (now == 0.f && std::signbit(now));
    return when == WhenSet::later && was_open ? -0.f : 0.f;
}

} // namespace

void ControlWriter::set(Synth& synth, int64_t index, float value, WhenSet when) noexcept {
    if (index < 0 || index >= control_count(synth))
        return;
    if (value == 0.f)
        value = zero_for(synth, int(index), value, when);
    if (synth.voice)
        return ensemble_.set_control(synth, int(index), value);
    ensemble_.graph_control_changed(synth, int(index), synth.graph->is_mapped(int(index)));
    synth.graph->set_control(int(index), value);
}

void ControlWriter::map(Synth& synth, int64_t index, int64_t bus, bool audio) noexcept {
    if (index < 0 || index >= control_count(synth) ||
        (bus >= 0 && !(audio ? buses_.audio_in_range(bus) : buses_.control_in_range(bus))))
        return;
    if (synth.voice)
        return ensemble_.map_control(synth, int(index), bus < 0 ? 0 : audio ? int32_t(-bus - 1) : int32_t(bus + 1));
    ensemble_.graph_control_changed(synth, int(index), true);
    if (bus < 0)
        synth.graph->unmap(int(index));
    else if (audio)
        synth.graph->map_to_audio_bus(int(index), int(bus));
    else
        synth.graph->map_to_control_bus(int(index), int(bus));
}

} // namespace scs

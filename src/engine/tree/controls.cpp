// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/controls.hpp"

#include "engine/definitions/definitions.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/voices/voice.hpp"

namespace scs {

int control_count(const Synth& synth) noexcept {
    return synth.voice ? int(synth.voice->code->controls) : synth.graph->control_count();
}

ControlRange controls_named(const Synth& synth, std::string_view name) noexcept {
    const ControlSlot* slot = synth.definition->program->find_control(name);
    return slot ? ControlRange{int64_t(slot->index), int64_t(slot->channels)} : ControlRange();
}

float control(const Synth& synth, int index) noexcept {
    // A closed gate's minus zero (see TurnFacts) is 0 for clients.
    return (synth.voice ? synth.voice->set_values()[index] : synth.graph->control(index)) + 0.f;
}

Mapping mapping(const Synth& synth, int index, int& bus) noexcept {
    if (!synth.voice)
        return synth.graph->mapping(index, bus);
    const int32_t to = synth.voice->mapped()[index];
    if (to != 0)
        bus = to > 0 ? to - 1 : -to - 1;
    return to > 0 ? Mapping::control : to < 0 ? Mapping::audio : Mapping::none;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/bus-range.hpp"
#include "engine/compile/graph-facts.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/voices/render-list.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace scs {

/// Calls what(voice) for each voice of a turn of voices. [rt]
template <class What>
void for_each_voice(const Item& one, What&& what) noexcept {
    if (!one.batch)
        return what(*one.lone->voice);
    for (uint32_t left = one.batch->live; left; left &= left - 1)
        what(*one.batch->synths[std::countr_zero(left)]->voice);
}

/// Calls what(bus, is_audio) for each control of a turn that is mapped. [rt]
template <class What>
void for_each_map(const Item& one, What&& what) noexcept {
    if (one.is_graph()) {
        const UnitGraph& graph = *one.lone->graph;
        for (int i = 0, bus = 0; i < graph.control_count(); ++i)
            if (const Mapping mapping = graph.mapping(i, bus); mapping != Mapping::none)
                what(int64_t(bus), mapping == Mapping::audio);
    } else if (!one.batch || one.batch->mapped) {
        for_each_voice(one, [&](const Voice& voice) {
            for (uint32_t i = 0; voice.maps && i < voice.code->controls; ++i)
                if (const int64_t to = voice.mapped()[i])
                    what(to > 0 ? to - 1 : -to - 1, to < 0);
        });
    }
}

/// Whether the number of the bus that an operation of the turn reaches is a mapped control. [rt]
inline bool bus_is_mapped(const Item& one, const NativeCode::BusUse& use, const OpList& list) noexcept {
    const Operand& bus = list.ops[use.op].operands[0];
    const size_t control = bus.offset / (sizeof(float) * size_t(list.lanes));
    if (bus.base != Base::record || control >= one.code().controls)
        return false;
    bool mapped = false;
    for_each_voice(one, [&](const Voice& voice) { mapped = mapped || voice.mapped()[control]; });
    return mapped;
}

/// [rt] How much there is to do in a block of a synth of plugins' units, as operations of a lone voice.
inline size_t work_in_graph(const Synth& synth) noexcept {
    return static_cast<const GraphFacts&>(*synth.facts).work;
}

/// [rt] How much there is to do in a block of an item: operations, one of a batch counting as four.
inline size_t work_in(const Item& one) noexcept {
    if (one.is_graph())
        return work_in_graph(*one.lone);
    const NativeCode& code = one.code();
    const auto ticks = size_t(code.ticks.count);
    return one.kind() == Costs::Kind::batch  ? 4 * code.batch.ops.size() * ticks
           : one.kind() == Costs::Kind::held ? code.sets
                                             : code.lone.ops.size() * ticks;
}

/// What for_each_reach() does for a synth of plugins' units.
template <class What>
void for_each_reach_of_graph(const Synth& synth, What&& what) noexcept {
    for (const GraphFacts::Reach& reach : static_cast<const GraphFacts&>(*synth.facts).reaches) {
        const NativeCode::BusUse use{0, reach.effect, 0};
        if (reach.control == GraphFacts::unknown || (reach.control >= 0 && synth.graph->is_mapped(reach.control))) {
            what(use, BusRange(), false);
            continue;
        }
        const float number = reach.control >= 0 ? synth.graph->control(reach.control) : reach.number;
        what(use, bus_range(number, reach.channels), true);
    }
}

/// Calls what(use, range, known) for each operation of a turn that reaches buses, in their order; `known`: whether the
/// range is all that it can reach. [rt]
template <class What>
void for_each_reach(const Item& one, What&& what) noexcept {
    if (one.is_graph())
        return for_each_reach_of_graph(*one.lone, what);
    const NativeCode& code = one.code();
    Batch* const batch = one.batch ? one.batch : one.lone->voice->batch;
    const OpList& list = batch ? code.batch : code.lone;
    const std::byte* const record = batch ? batch->record() : one.lone->voice->record;
    const uint32_t live = one.batch ? one.batch->live : batch ? 1u << one.lone->voice->lane : 1u;
    const bool mapped = batch ? batch->mapped : one.lone->voice->maps;
    for (const NativeCode::BusUse& use : batch ? code.batch_reaches : code.lone_reaches) {
        const bool known = known_before(use, list) && !(mapped && bus_is_mapped(one, use, list));
        what(use, known ? reach_of(use, list, record, live) : BusRange(), known);
    }
}

} // namespace scs

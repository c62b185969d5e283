// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text-line.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/node.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/voices/rest.hpp"
#include "engine/voices/voice-runner.hpp"

namespace scs {
namespace {

/// Prints the first sample of each operand.
void print_firsts(Outbox& outbox, const char* title, const Operand* first, uint32_t count,
                  const Block& block) noexcept {
    TextLine line;
    line.add("    %s", title);
    for (const Operand* o = first; o != first + count; ++o)
        line.add(" %g", o->rate == Rate::demand
                            ? 0. // until it is asked
                            : double(*reinterpret_cast<const float*>(block.bases[size_t(o->base)] + o->offset)));
    outbox.print(line.take());
}

} // namespace

void VoiceRunner::run_traced(Synth& synth, const Program& program, Outbox& outbox) noexcept {
    Voice& voice = *synth.voice;
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    if (voice.maps)
        follow_maps(voice, voice.record, 1, 0);
    TextLine title;
    outbox.print("\n");
    title.add("TRACE %d  %s    #units: %u", synth.id, program.name.c_str(), program.num_calc_units);
    outbox.print(title.take());

    wake(voice); // this computes what is at rest, too, and its state may go on changing then
    const OpList& list = voice.code->plain;
    const Operand* operands = list.operands.data();
    auto op = list.ops.begin();
    Ticks ticks;
    if (voice.code->own_rate) {
        use_own_rate(block, *voice.code, voice.sample_rate);
        ticks = begin_ticks(voice);
        block.ticks = &ticks;
    }
    int index = 0;
    for (uint32_t u = 0; u < program.units.size(); ++u) {
        const UnitPlan& unit = program.units[u];
        if (unit.is_calc()) {
            TextLine line;
            line.add("  unit %d %s", index++, unit.ugen->name.c_str());
            outbox.print(line.take());
            print_firsts(outbox, "in ", operands, unit.num_inputs, block);
        }
        if (op != list.ops.end() && op->unit == u) {
            op->run(*op, block);
            ++op;
        }
        if (unit.is_calc())
            print_firsts(outbox, "out", operands + unit.num_inputs, unit.num_outputs, block);
        operands += unit.num_inputs + unit.num_outputs;
    }
    if (voice.code->own_rate) // of its blocks in one of the server's, the first is shown
        run_later_ticks(voice.code->lone, block, ticks);
    forget_triggers(voice);
}

} // namespace scs

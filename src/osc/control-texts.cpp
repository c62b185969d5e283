// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/control-texts.hpp"

#include "engine/engine.hpp"
#include "engine/tree/controls.hpp"

#include <charconv>
#include <iterator>

namespace scs::osc {

std::string_view mapping_text(const Synth& synth, int index, char (&text)[16]) noexcept {
    int bus = 0;
    const Mapping mapping = scs::mapping(synth, index, bus);
    if (mapping == Mapping::none)
        return {};
    text[0] = mapping == Mapping::audio ? 'a' : 'c';
    SCS_UNPROVEN_BEGIN // it neither allocates nor locks
    const char* const end = std::to_chars(text + 1, std::end(text), bus).ptr;
    SCS_UNPROVEN_END
    return {text, end};
}

void add_value(ReplyWriter& reply, const Synth& synth, int index) noexcept {
    char buffer[16];
    const std::string_view mapping = mapping_text(synth, index, buffer);
    if (mapping.empty())
        reply.add(control(synth, index));
    else
        reply.add(mapping);
}

bool add_controls(Engine& engine, ReplyWriter& reply, const Synth& synth, int64_t& next) noexcept {
    constexpr int64_t control_cost = 50, at_once = 64; // ns, an estimate for the deadline
    const int count = control_count(synth);
    if (next == 0)
        reply.add(int32_t(count));
    ControlNames names(*synth.definition->program, uint32_t(next));
    for (; next < count && !reply.overflowed(); ++next) {
        if (next % at_once == at_once - 1 && engine.out_of_time(at_once * control_cost))
            return false;
        names.add(reply, int(next));
        add_value(reply, synth, int(next));
    }
    next = 0;
    return true;
}

} // namespace scs::osc

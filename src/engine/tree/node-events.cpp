// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/node-events.hpp"

#include "engine/base/text-line.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/ugens/complaint.hpp"

namespace scs {
namespace {

constexpr int64_t line_cost = 1000; // of a line of text: an estimate for the deadline, ns
constexpr int32_t no_order = -2;    // what is told in place of a neighbour's ID in a parallel group, as by supernova

const char* name_of(const Node& node) noexcept {
    return node.is_group ? "group" : static_cast<const Synth&>(node).definition->program->name.c_str();
}

} // namespace

NodeEvents::NodeEvents(const Settings& settings, Outbox& outbox, Deadline& deadline) noexcept
    : outbox_(outbox), deadline_(deadline), notifies_(settings.real_time), verbose_(settings.verbosity > -1) {}

void NodeEvents::emit(const Node& node, NodeChange change) noexcept {
    const auto id = [](const Node* n) { return n ? n->id : -1; };
    const auto place = [&](const Group* in, const Node* n) { return in && in->parallel ? no_order : id(n); };
    const Group* group = node.is_group ? static_cast<const Group*>(&node) : nullptr;
    const Group* parent = seen_parent(node);
    const NodeEvent event{
        {EventKind::node, sizeof(NodeEvent)},
        change,
        node.is_group,
        node.id,
        id(parent),
        place(parent, seen_previous(node)),
        place(parent, seen_next(node)),
        place(group, group ? seen_head(*group) : nullptr),
        place(group, group ? seen_tail(*group) : nullptr),
    };
    outbox_.notify(event);
}

bool NodeEvents::print_children(const Group& group, Node*& at) noexcept {
    TextLine line;
    bool room = true;
    if (!at) {
        line.add("TRACE Group %d", group.id);
        room = outbox_.print(line.take());
        at = seen_head(group);
    }
    for (; at && room; at = seen_next(*at)) {
        if (deadline_.spend(line_cost))
            return false;
        line.add("   %d %s", at->id, name_of(*at));
        room = outbox_.print(line.take());
    }
    return true;
}

// The lines are scsynth's.
void NodeEvents::complain(const Complaint& complaint, const Synth& synth) noexcept {
    TextLine line;
    const Program& program = *synth.definition->program;
    if (complaint.what == Complaint::no_memory && complaint.unit < program.units.size())
        line.add("%s_Ctor: alloc failed, increase server's RT memory (e.g. via ServerOptions)",
                 program.units[complaint.unit].ugen->name.c_str());
    else if (!verbose_)
        return;
    else if (complaint.what == Complaint::no_buffer)
        line.add("Buffer UGen: no buffer data");
    else if (complaint.what == Complaint::too_many_buffers)
        line.add("warning: LocalBuf tried to allocate too many local buffers.");
    else
        line.add("Buffer UGen channel mismatch: expected %i, yet buffer has %i channels", int(complaint.outputs),
                 int(complaint.found));
    outbox_.complain(line.take());
}

void NodeEvents::complain_of_crash(Synth& synth, const char* when) noexcept {
    if (!synth.graph->take_crash())
        return;
    TextLine line;
    line.add("UGen '%s' of synth %d (%s) %s%s", synth.graph->crashed_ugen(), synth.id,
             synth.definition->program->name.c_str(), synth.graph->took_too_long() ? "took too long" : "crashed", when);
    outbox_.complain(line.take());
}

} // namespace scs

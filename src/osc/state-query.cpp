// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/state-query.hpp"

#include "engine/engine.hpp"
#include "engine/tree/controls.hpp"
#include "osc/walk-page.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace scs::osc {

namespace {

// ns, estimates for the deadline
constexpr int64_t node_cost = 200, control_cost = 10, bus_cost = 1;
/// Of a synth; those of one with more aren't copied, and it comes back with its SynthDef's.
constexpr int most_controls = 2048;

/// Whether it plays on as long as nobody ends it.
bool stays(const Synth& synth) noexcept {
    const Staying& staying = synth.definition->staying;
    return staying.stays && std::all_of(staying.gates.begin(), staying.gates.end(), [&](int32_t gate) {
               return gate >= control_count(synth) || control(synth, gate) > 0;
           });
}

/// Where the walk goes on: at the first place that is still there; nowhere if none is.
NodeWalk find_place(Tree& tree, std::span<const WalkPlaces::Place> places) noexcept {
    for (const WalkPlaces::Place& place : places)
        if (Node* node = tree.find(place.id))
            return {node, place.behind};
    return {};
}

int64_t cost_of(const Node& node) noexcept {
    const int controls = node.is_group ? 0 : std::min(control_count(static_cast<const Synth&>(node)), most_controls);
    return node_cost + controls * control_cost;
}

} // namespace

void StatePage::fill(Engine& engine) noexcept {
    entries_.count = names_.count = values_.count = mapped_.count = num_buses_ = 0;
    Group& root = engine.tree().root();
    NodeWalk walk = first_ ? NodeWalk{&root, false} : find_place(engine.tree(), next_.places());
    next_ = {};
    lost_ = !walk.node;
    was_first_ = std::exchange(first_, false);
    if (was_first_)
        copy_buses(engine);
    while (walk.node) {
        const bool passed_over = walk.behind || walk.node == &root || as_cluster(walk.node);
        if (engine.out_of_time(passed_over ? node_cost : cost_of(*walk.node)) ||
            (!passed_over && !copy(engine.definitions(), *walk.node))) {
            next_ = WalkPlaces::of(walk, root);
            return;
        }
        walk.step(root);
    }
}

void StatePage::copy_buses(Engine& engine) noexcept {
    const auto count = std::min(buses_.size(), size_t(engine.buses().control_count()));
    if (engine.out_of_time(int64_t(count) * bus_cost))
        return; // this time without them
    std::memcpy(buses_.data(), engine.buses().control(), count * sizeof(float));
    num_buses_ = count;
    while (num_buses_ > 0 && !(buses_[num_buses_ - 1] != 0))
        --num_buses_;
}

/// false: there is no room.
bool StatePage::copy(Definitions& definitions, const Node& node) noexcept {
    if (node.run == Run::ending)
        return true;
    if (!entries_.has_room(1))
        return false;
    Entry entry{node.id, 0, node.satellite, node.is_group, false, is_paused(node), 0, 0, 0};
    if (node.satellite == Satellite::no)
        entry.parent = seen_parent(node)->id;
    else if (const Node* reference = reference_of(const_cast<Node&>(node)))
        entry.parent = reference->id;
    else
        return true; // it is about to be freed
    if (node.is_group)
        entry.parallel = static_cast<const Group&>(node).parallel;
    else if (!stays(static_cast<const Synth&>(node)))
        return true;
    else if (!copy_synth(definitions, static_cast<const Synth&>(node), entry))
        return false;
    entries_.add(entry);
    return true;
}

bool StatePage::copy_synth(Definitions& definitions, const Synth& synth, Entry& entry) noexcept {
    const std::string_view name = synth.definition->program->name;
    const bool replaced = definitions.find(name) != synth.definition; // its controls may be others
    const int count = control_count(synth) <= most_controls && !replaced ? control_count(synth) : 0;
    if (!names_.has_room(name.size()) || !values_.has_room(size_t(count)) || !mapped_.has_room(size_t(count)))
        return false;
    for (const char letter : name)
        names_.add(letter);
    entry.name_size = uint32_t(name.size());
    entry.values = uint32_t(count);
    for (int i = 0; i < count; ++i) {
        values_.add(control(synth, i));
        int bus = 0;
        const Mapping to = mapping(synth, i, bus);
        if (to != Mapping::none)
            mapped_.add({i, bus, to == Mapping::audio});
        entry.mapped += to != Mapping::none;
    }
    return true;
}

void StatePage::append_to(std::vector<NodeState>& nodes) const {
    const char* name = names_.items.data();
    const float* values = values_.items.data();
    const NodeState::Mapped* mapped = mapped_.items.data();
    for (const Entry& entry : std::span(entries_.items).first(entries_.count)) {
        NodeState& node = nodes.emplace_back();
        node.id = entry.id;
        node.parent = entry.parent;
        node.satellite = entry.satellite;
        node.parallel = entry.parallel;
        node.paused = entry.paused;
        node.definition.assign(name, entry.name_size);
        node.controls.assign(values, values + entry.values);
        node.mapped.assign(mapped, mapped + entry.mapped);
        name += entry.name_size;
        values += entry.values;
        mapped += entry.mapped;
    }
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/walk-page.hpp"

#include "osc/node-args.hpp"

#include <string_view>
#include <utility>

namespace scs::osc {

namespace {

/// The group that all places but the last are in: the last one tells it, as WalkPlaces has them.
bool names_group(ArgReader args, int32_t& group) noexcept {
    int count = 0;
    int32_t number = 0;
    for (; count < WalkPlaces::most && args.remain() > 0; ++count) {
        group = args.get_int();
        number = args.get_int();
    }
    return count > 1 && number == 1;
}

Status find_place(Group& group, ArgReader& args, Tree& tree, Node*& node, int32_t& from) noexcept {
    node = &group;
    from = 0;
    Status missing;
    int32_t above = 0;
    const bool in_group = names_group(args, above);
    for (int i = 0; i < WalkPlaces::most && args.remain() > 0; ++i) {
        const int32_t id = args.get_int(), number = args.get_int();
        Node* const found = tree.find(id);
        const Group* const parent = found ? seen_parent(*found) : nullptr;
        const bool moved = in_group && id != above && parent && parent->id != above;
        if (found && !moved) {
            node = found;
            from = number;
            return {};
        }
        if (missing.ok())
            missing = {Code::node_not_found, id};
    }
    return missing;
}

} // namespace

Status begin_page(Place& place, Tree& tree, int32_t& from) noexcept {
    const NodeArg group = read_node(place.args, tree);
    if (!group.group())
        return {Code::group_not_found, group.id};
    place.node = group.node;
    return find_place(*group.group(), place.args, tree, place.walk.node, from);
}

void tell_next(ReplyWriter& reply, const NodeWalk& walk, const Group& top, int32_t from) noexcept {
    reply.add(std::string_view("next"));
    const WalkPlaces next = WalkPlaces::of(walk, top);
    for (const WalkPlaces::Place& place : next.places()) {
        reply.add(place.id);
        const int32_t first = std::exchange(from, 0);
        reply.add(first ? first : int32_t(place.behind));
    }
}

} // namespace scs::osc

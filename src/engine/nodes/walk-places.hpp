// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/cluster.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace scs {

/// Where a walk that is done in pages goes on. Nodes may go until then, so there are several places, each of which
/// comes right after those before it: the nodes that follow in this group, then what follows the group. [rt]
class WalkPlaces {
public:
    static constexpr int most = 16;

    struct Place {
        int32_t id = 0;
        bool behind = false; ///< NodeWalk::behind
    };

    /// From where the walk of `top` stands, which isn't its end.
    static WalkPlaces of(const NodeWalk& walk, const Group& top) noexcept {
        WalkPlaces result;
        const Node* node = walk.behind ? seen_end<&Group::tail>(walk.node) : seen_end<&Group::head>(walk.node);
        const Group* const above = seen_parent(*node);
        result.add({node->id, walk.behind});
        if (node == &top)
            return result;
        node = seen_next(*node);
        for (; node && result.count_ < most - 1; node = seen_next(*node))
            result.add({node->id, false});
        if (above)
            result.add({above->id, true});
        return result;
    }

    std::span<const Place> places() const& noexcept { return {places_.data(), size_t(count_)}; }
    void places() const&& = delete; // they would be gone
    bool none() const noexcept { return count_ == 0; }

private:
    void add(Place place) noexcept { places_[size_t(count_++)] = place; }

    std::array<Place, most> places_;
    int count_ = 0;
};

} // namespace scs

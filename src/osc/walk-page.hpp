// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "engine/nodes/walk-places.hpp"
#include "engine/tree/tree.hpp"
#include "osc/codec/reply-record.hpp"
#include "osc/osc-command.hpp"

#include <cstdint>

namespace scs::osc {

// A walk through the tree that is told to a client page by page: each page ends with where the next one may begin, and
// the client sends that back. [rt]

/// Reads of Place::args the group whose tree is told, which becomes Place::node, and where to go on, for Place::walk:
/// at the first node that is still there of those that are named, each as an ID and a number, which becomes `from`.
/// Without any, at the group, from 0. If the last one is what follows a group, those before it that have left this
/// group count as gone. The status is a failure if there is no such group, or all are gone.
Status begin_page(Place&, Tree&, int32_t& from) noexcept SCS_NONBLOCKING;

/// Adds "next" and the places for begin_page() from where the walk stands, which isn't its end, each with 1 if what is
/// in the node has been told, else 0; the first one with `from`, unless that is 0.
void tell_next(ReplyWriter&, const NodeWalk&, const Group& top, int32_t from = 0) noexcept SCS_NONBLOCKING;

/// Whether a node is paused by itself: the groups that it is in may be, too.
inline bool is_paused(const Node& node) noexcept {
    return node.run == Run::off || node.run == Run::first_paused;
}

} // namespace scs::osc

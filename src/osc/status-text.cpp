// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/status-text.hpp"

namespace scs::osc {

std::string status_text(Status status) {
    const auto number = [&] { return std::to_string(status.value); };
    switch (status.code) {
    case Code::ok: return "none";
    case Code::failed: return "failed";
    case Code::node_not_found: return "Node " + number() + " not found";
    case Code::target_not_found: return "target Node " + number() + " not found";
    case Code::group_not_found: return "Group " + number() + " not found";
    case Code::synthdef_not_found: return "SynthDef not found";
    case Code::wrong_argument_type: return "wrong argument type";
    case Code::index_out_of_range: return "index out of range";
    case Code::buffer_out_of_range: return "buffer " + number() + " is out of range";
    case Code::no_buffer: return "buffer " + number() + " isn't allocated";
    case Code::buffer_overflow: return "buffer overflow";
    case Code::out_of_memory: return "out of real time memory";
    case Code::too_many_nodes: return "too many nodes";
    case Code::duplicate_node_id: return "duplicate node ID";
    case Code::reserved_node_id: return "negative node IDs are reserved";
    case Code::cannot_replace_root: return "can't replace group 0";
    case Code::move_into_itself: return "a group can't be moved into itself";
    case Code::satellite_of_root: return "group 0 can't have satellites";
    case Code::satellites_too_deep: return "satellites of satellites are nested too deep";
    case Code::satellite_moved: return "a satellite moves only with its reference";
    case Code::satellite_no_group: return "a satellite can't be replaced by a group";
    }
    return "unknown error";
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/status-text.hpp"

#include "engine/base/text-line.hpp"

namespace scs::osc {

void add_status(TextLine& line, Status status) noexcept {
    switch (status.code) {
    case Code::ok: return line.add("none");
    case Code::failed: return line.add("failed");
    case Code::node_not_found: return line.add("Node %d not found", status.value);
    case Code::target_not_found: return line.add("target Node %d not found", status.value);
    case Code::group_not_found: return line.add("Group %d not found", status.value);
    case Code::synthdef_not_found: return line.add("SynthDef not found");
    case Code::wrong_argument_type: return line.add("wrong argument type");
    case Code::index_out_of_range: return line.add("index out of range");
    case Code::buffer_out_of_range: return line.add("buffer %d is out of range", status.value);
    case Code::no_buffer: return line.add("buffer %d isn't allocated", status.value);
    case Code::buffer_overflow: return line.add("buffer overflow");
    case Code::out_of_memory: return line.add("out of real time memory");
    case Code::too_many_nodes: return line.add("too many nodes");
    case Code::duplicate_node_id: return line.add("duplicate node ID");
    case Code::reserved_node_id: return line.add("negative node IDs are reserved");
    case Code::cannot_replace_root: return line.add("can't replace group 0");
    case Code::move_into_itself: return line.add("a group can't be moved into itself");
    case Code::satellite_of_root: return line.add("group 0 can't have satellites");
    case Code::satellites_too_deep: return line.add("satellites of satellites are nested too deep");
    case Code::satellite_moved: return line.add("a satellite moves only with its reference");
    case Code::satellite_no_group: return line.add("a satellite can't be replaced by a group");
    }
    line.add("unknown error");
}

std::string status_text(Status status) {
    TextLine line;
    add_status(line, status);
    return std::string(line.take());
}

} // namespace scs::osc

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// Why a command could not be carried out. Texts are scsynth's; status_text() in src/osc has them.
enum class Code : uint8_t {
    ok,
    failed,
    node_not_found,   ///< value: the node ID
    target_not_found, ///< value: the node ID
    group_not_found,  ///< value: the group ID
    synthdef_not_found,
    wrong_argument_type,
    index_out_of_range,
    buffer_out_of_range, ///< value: its number
    no_buffer,           ///< value: the number of a buffer that isn't allocated
    buffer_overflow,
    out_of_memory,
    too_many_nodes,
    duplicate_node_id, ///< value: the node ID
    reserved_node_id,
    cannot_replace_root,
    move_into_itself, ///< a group moved into itself or its own descendant
    satellite_of_root,
    satellites_too_deep,
    satellite_moved,
    satellite_no_group, ///< a group in place of a satellite
};

/// A code and the number that its text mentions. Cheap to copy on the render path.
struct [[nodiscard]] Status {
    Code code = Code::ok;
    int32_t value = 0;
    bool ok() const noexcept { return code == Code::ok; }
    bool failed() const noexcept { return !ok(); }
};

} // namespace scs

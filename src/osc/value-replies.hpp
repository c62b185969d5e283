// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "osc/arg-reader.hpp"
#include "osc/osc-command.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace scs::osc {

/// The longest reply of /c_get, /c_getn, /b_get, /b_getn and /b_query. They have only 4-byte arguments and must fit in
/// a UDP datagram (scsynth's limit is 9 bytes higher: a reply between the two is lost there).
inline constexpr size_t max_values_bytes = 65504;

/// [any] Bytes on the wire.
size_t values_message_bytes(std::string_view address, uint64_t arguments) noexcept SCS_NONBLOCKING;
/// [osc] Room for a reply of that many arguments; 0 if it is too large to be sent.
size_t values_room(std::string_view address, uint64_t arguments) noexcept;

/// How many arguments the reply to a list of indices has, and to a list of starts and counts; without the buffer
/// number. If there are more than can be sent, as many as show that. [any]
uint64_t indexed_arguments(ArgReader indices) noexcept;
uint64_t ranged_arguments(ArgReader ranges) noexcept;

/// [rt] Replies `address [buffer] (index value)*` to a list of indices. index_out_of_range, buffer_overflow.
Status reply_indexed(OscCommand&, const char* address, std::optional<int32_t> buffer, ArgReader indices,
                     std::span<float> values) noexcept SCS_NONBLOCKING;
/// [rt] Replies `address [buffer] (start count value*)*` to a list of starts and counts. The same errors.
Status reply_ranged(OscCommand&, const char* address, std::optional<int32_t> buffer, ArgReader ranges,
                    std::span<float> values) noexcept SCS_NONBLOCKING;

} // namespace scs::osc

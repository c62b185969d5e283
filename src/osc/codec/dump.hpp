// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/codec/decode.hpp"

#include <span>
#include <string>

namespace scs::osc {

/// The packet as scsynth prints it after `/dumpOSC 1`: one line for a message, an indented tree for
/// a bundle, with a final newline. /status, which clients poll, is left out as scsynth does: the
/// text is empty for a packet that is nothing else. Control characters are shown as `?`. [any]
std::string to_text(const Packet& packet);

/// Bytes as scsynth prints them after `/dumpOSC 2`: the size, then 16 bytes a line with their
/// offset and printable ASCII, then an empty line. Needs no decoded packet, so that malformed
/// input can be shown too. [any]
std::string to_hex(std::span<const std::byte> bytes);

} // namespace scs::osc

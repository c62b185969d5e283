// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"

#include <cstddef>
#include <span>

namespace scs {

alignas(4) inline constexpr char no_arguments[4] = {','};

/// The iterator with which plugins read arguments. `bytes`: an OSC message without its address, 4-byte aligned; the
/// iterator points into them. [any]
inline sc_msg_iter read_arguments(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) // the iterator reads the first byte even if the size is 0
        bytes = std::as_bytes(std::span(no_arguments));
    return sc_msg_iter(int(bytes.size()), reinterpret_cast<const char*>(bytes.data()));
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/printable.hpp"

#include <string>
#include <string_view>

namespace scs::top {

/// The sentence for a server's answer that it can't obey `address`. `reason`: as it came; what isn't printable in it
/// is escaped.
inline std::string refusal(std::string_view address, std::string_view reason) {
    if (reason == "Command not found")
        return "the server has no " + std::string(address) + ": it is scsynth, or an older pw-scsynth";
    return "the server refuses " + std::string(address) + ": " + printable(reason);
}

} // namespace scs::top

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace scs {

/// Takes what is before the next `end`, which goes, too; all if there is none. [any]
inline std::string_view take_until(std::string_view& text, char end) noexcept {
    const size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + 1);
    return taken;
}

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace scs {

/// A name from a file, quoted for an error text: bytes that aren't printable ASCII become '?'.
inline std::string quoted(std::string_view name) {
    std::string text = "'";
    for (char c : name)
        text += c >= ' ' && c <= '~' ? c : '?';
    return text + "'";
}

} // namespace scs

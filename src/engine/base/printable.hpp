// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace scs {

/// How many bytes at the beginning of `text` are one printable character in UTF-8; 0 if they are none, but a control
/// character or no UTF-8. [any]
inline size_t printable_bytes(std::string_view text) noexcept {
    const auto byte = [&](size_t at) { return at < text.size() ? uint8_t(text[at]) : uint8_t(0); };
    const uint8_t first = byte(0);
    if (first < 0x80)
        return first >= 0x20 && first != 0x7f;
    const size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t code = first & (0x7fu >> count);
    for (size_t at = 1; at < count; ++at) {
        if ((byte(at) & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte(at) & 0x3fu);
    }
    constexpr uint32_t shortest[] = {0, 0, 0xa0, 0x800, 0x10000}; // below 0xa0 are control characters
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    // Marks that make a terminal or an editor show the rest in another order, and line separators.
    const bool reorders =
        (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return first < 0xc2 || first > 0xf4 || code < shortest[count] || code > 0x10ffff || surrogate || reorders ? 0
                                                                                                              : count;
}

/// Whether all of it is. [any]
inline bool is_printable(std::string_view text) noexcept {
    while (!text.empty()) {
        const size_t count = printable_bytes(text);
        if (count == 0)
            return false;
        text.remove_prefix(count);
    }
    return true;
}

/// `text` in one line that changes nothing where it is shown: every byte that isn't part of a printable character
/// becomes \xNN. [any but rt]
inline std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        size_t count = printable_bytes(text);
        if (count > 0) {
            result += text.substr(0, count);
        } else {
            constexpr char digits[] = "0123456789abcdef";
            const auto byte = uint8_t(text[0]);
            result.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
            count = 1;
        }
        text.remove_prefix(count);
    }
    return result;
}

} // namespace scs

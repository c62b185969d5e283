// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/screen-text.hpp"

#include "engine/base/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace scs::top {

std::string number(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string percent(double value) {
    return number(value < 9.995 ? "%.2f" : "%.1f", value);
}

std::string right(const std::string& text, size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string cut(std::string text, int columns) {
    size_t at = 0;
    for (int column = 0; at < text.size() && column < columns; ++column)
        at += std::max<size_t>(printable_bytes(std::string_view(text).substr(at)), 1);
    text.resize(at);
    return text;
}

} // namespace scs::top

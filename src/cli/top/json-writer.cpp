// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json-writer.hpp"

#include "engine/base/printable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace scs::top {

namespace {

std::string escaped(char control) {
    constexpr char digits[] = "0123456789abcdef";
    return {'\\', 'u', '0', '0', digits[uint8_t(control) >> 4], digits[uint8_t(control) & 15]};
}

} // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
    begin_item();
    quote(name);
    text_ += ':';
    follows_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
    begin_item();
    quote(text);
    return *this;
}

JsonWriter& JsonWriter::number(double value) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), std::isfinite(value) ? value : 0,
                                   std::chars_format::general, 6);
    return literal({text.data(), size_t(end.ptr - text.data())});
}

template <class Real>
JsonWriter& JsonWriter::shortest(Real value) {
    if (!std::isfinite(value))
        return null();
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return literal({text.data(), size_t(end.ptr - text.data())});
}

JsonWriter& JsonWriter::exact(float value) {
    return shortest(value);
}

JsonWriter& JsonWriter::exact(double value) {
    return shortest(value);
}

JsonWriter& JsonWriter::literal(std::string_view text) {
    begin_item();
    text_ += text;
    return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
    begin_item();
    text_ += bracket;
    follows_item_ = false;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    end_line();
    text_ += bracket;
    follows_item_ = true;
    return *this;
}

void JsonWriter::begin_item() {
    if (!std::exchange(follows_key_, false) && std::exchange(follows_item_, true))
        text_ += ',';
    end_line();
}

void JsonWriter::end_line() {
    if (std::exchange(at_line_end_, false))
        text_ += '\n';
}

void JsonWriter::quote(std::string_view text) {
    text_ += '"';
    while (!text.empty()) {
        const size_t count = printable_bytes(text);
        const char first = text[0];
        if (first == '"' || first == '\\')
            text_.append({'\\', first});
        else if (count > 0)
            text_ += text.substr(0, count);
        else
            text_ += uint8_t(first) < 0x80 ? escaped(first) : "\xef\xbf\xbd"; // U+FFFD
        text.remove_prefix(std::max<size_t>(count, 1));
    }
    text_ += '"';
}

std::string JsonWriter::take() {
    return std::exchange(text_, {});
}

} // namespace scs::top

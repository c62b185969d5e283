// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json-writer.hpp"

#include "engine/base/printable.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace scs::top {

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
    for (const char c : printable(text)) {
        if (c == '"' || c == '\\')
            text_ += '\\';
        text_ += c;
    }
    text_ += '"';
}

std::string JsonWriter::take() {
    return std::exchange(text_, {});
}

} // namespace scs::top

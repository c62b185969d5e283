// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace scs::top {

/// Writes JSON, item after item; the commas come by themselves. In objects a key() comes before each value. [one thread
/// at a time]
class JsonWriter {
public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_list() { return open('['); }
    JsonWriter& end_list() { return close(']'); }
    /// Control characters of ASCII are written as \u00NN, and each byte of what else isn't printable UTF-8 as U+FFFD.
    JsonWriter& key(std::string_view name);
    JsonWriter& string(std::string_view text);
    /// With six digits, in every locale. NaN and infinity, which JSON lacks, become 0.
    JsonWriter& number(double value);
    /// With as many digits as tell it from every other. NaN and infinity become null.
    JsonWriter& exact(float value);
    JsonWriter& exact(double value);
    JsonWriter& number(int64_t value) { return literal(std::to_string(value)); }
    JsonWriter& boolean(bool value) { return literal(value ? "true" : "false"); }
    JsonWriter& null() { return literal("null"); }
    /// A number in the form in which it is to be written.
    JsonWriter& literal(std::string_view text);
    /// The next item or end begins a line.
    JsonWriter& new_line() {
        at_line_end_ = true;
        return *this;
    }

    /// How long what was written since take() is.
    size_t size() const noexcept { return text_.size(); }
    /// That text. Writing goes on after it.
    std::string take();

private:
    template <class Real>
    JsonWriter& shortest(Real value);
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void begin_item();
    void end_line();
    void quote(std::string_view text);

    std::string text_;
    bool follows_item_ = false, follows_key_ = false, at_line_end_ = false;
};

} // namespace scs::top

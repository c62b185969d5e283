// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace scs {

/// Describes one setting, apart from its field: how to read and check it, and the texts for --help, the man page and
/// docs/settings.md.
struct Setting {
    /// How the value after scsynth's option is read.
    enum class Option {
        plain,        ///< a number, a text, or 0 and 1 for false and true
        power_of_two, ///< a number, rounded up to a power of two
        path,         ///< made absolute
        paths,        ///< several with colons between, each made absolute
    };

    const char* key = "";     ///< the property is scsynth.<key>, the option of pw-scsynth --set <key>=…
    int low = 0, high = 0;    ///< least and greatest value of a number
    const char* choices = ""; ///< allowed texts, separated by |; empty: any text
    char letter = 0;          ///< scsynth's option for it; 0: scsynth has none
    Option option = Option::plain;
    std::optional<int> scsynth_default; ///< the default of scsynth and of pw-scsynth, where the node's differs
    const char* value = "";             ///< a word for the value after the option, for --help
    const char* unset = "";             ///< what the documents say as the default where that is not a value
    const char* help = "";              ///< a few words, without a full stop, at most 60 characters
    const char* more = "";              ///< sentences for docs/settings.md and man page; code in `backticks`
};

/// A setting and its field, which has the default, in the struct that holds it.
template <class Owner>
struct SettingRow {
    std::variant<int Owner::*, double Owner::*, bool Owner::*, std::string Owner::*> field;
    Setting setting;
};

/// Whether a setting may have this value. [any]
inline bool allows(const Setting& setting, int value) noexcept {
    return value >= setting.low && value <= setting.high;
}

inline bool allows(const Setting& setting, double value) noexcept {
    return value >= setting.low && value <= setting.high;
}

inline bool allows(const Setting&, bool) noexcept {
    return true;
}

inline bool allows(const Setting& setting, std::string_view value) noexcept {
    std::string_view rest = setting.choices;
    if (rest.empty())
        return true;
    while (true) {
        const auto end = rest.find('|');
        if (value == rest.substr(0, end))
            return true;
        if (end == rest.npos)
            return false;
        rest.remove_prefix(end + 1);
    }
}

/// A number for documents and errors: "0.7". [any but rt]
inline std::string number_text(double value) {
    std::string text(32, '\0');
    text.resize(size_t(std::to_chars(text.data(), text.data() + text.size(), value).ptr - text.data()));
    return text;
}

/// The allowed values as text: "0 to 1024", "auto, sse2 or avx2". Empty if any value is allowed. [any but rt]
inline std::string range_text(const Setting& setting) {
    std::string text = setting.choices;
    if (text.empty() && setting.low < setting.high)
        return std::to_string(setting.low) + " to " + std::to_string(setting.high);
    if (const auto last = text.rfind('|'); last != text.npos)
        text.replace(last, 1, " or ");
    for (auto bar = text.find('|'); bar != text.npos; bar = text.find('|'))
        text.replace(bar, 1, ", ");
    return text;
}

/// What is wrong with the row's field: "outputs must be 0 to 1024, not 1025". Empty if nothing is. [any but rt]
template <class Owner>
std::string row_problem(const SettingRow<Owner>& row, const Owner& owner) {
    const auto problem = [&](const auto& value) -> std::string {
        if (allows(row.setting, value))
            return {};
        std::string text = row.setting.key + (" must be " + range_text(row.setting)) + ", not ";
        if constexpr (std::is_same_v<decltype(value), const int&>)
            return text + std::to_string(value);
        else if constexpr (std::is_same_v<decltype(value), const double&>)
            return text + number_text(value);
        else if constexpr (std::is_same_v<decltype(value), const std::string&>)
            return text + value;
        else
            return text;
    };
    return std::visit([&](auto field) { return problem(owner.*field); }, row.field);
}

/// The first problem of all rows; empty if there is none. [any but rt]
template <class Rows, class Owner>
std::string first_problem(const Rows& rows, const Owner& owner) {
    for (const SettingRow<Owner>& row : rows)
        if (std::string problem = row_problem(row, owner); !problem.empty())
            return problem;
    return {};
}

} // namespace scs

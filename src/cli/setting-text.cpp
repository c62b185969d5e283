// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/setting-text.hpp"

namespace scs::cli {

namespace {

std::string text_of(int value) {
    return std::to_string(value);
}

std::string text_of(double value) {
    return number_text(value);
}

std::string text_of(bool value) {
    return value ? "true" : "false";
}

std::string text_of(const std::string& value) {
    return value;
}

} // namespace

std::string default_text(const spa::BoundSetting& bound, Whose whose) {
    const Setting& setting = *bound.setting;
    if (*setting.unset)
        return setting.unset;
    const auto text = [&](auto* field) {
        auto value = *field;
        if constexpr (!std::is_same_v<decltype(value), std::string>)
            if (whose == Whose::program && setting.scsynth_default)
                value = decltype(value)(*setting.scsynth_default);
        if constexpr (std::is_same_v<decltype(value), bool>)
            if (whose == Whose::program && setting.letter)
                return text_of(int(value));
        return text_of(value);
    };
    return std::visit(text, bound.field);
}

} // namespace scs::cli

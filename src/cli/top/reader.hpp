// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/arg-reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace scs::top {

/// A number or a text, as it came.
using Value = std::variant<int32_t, float, double, std::string>;

/// Reads arguments of which each has to be there.
class Reader {
public:
    explicit Reader(std::span<const osc::Arg> args) : rest_(args) {}

    bool more() const { return good_ && rest_.remain() > 0; }
    bool good() const { return good_; }
    bool at_text() const { return rest_.at_string(); }
    int32_t whole() {
        good_ = good_ && rest_.tag() == 'i';
        return good_ ? rest_.get_int() : 0;
    }
    int count() { return std::max(whole(), 0); }
    /// May be NaN.
    double real() {
        good_ = good_ && (rest_.tag() == 'f' || rest_.tag() == 'd');
        return good_ ? rest_.get_double() : 0;
    }
    /// The same; what is no finite number becomes 0.
    double number() {
        const double value = real();
        return std::isfinite(value) ? value : 0;
    }
    std::string text() {
        good_ = good_ && at_text();
        return good_ ? std::string(rest_.get_string()) : "";
    }
    /// Any of these.
    Value value() {
        switch (good_ ? rest_.tag() : '\0') {
        case 'i': return rest_.get_int();
        case 'f': return rest_.get_float();
        case 'd': return rest_.get_double();
        default: return text();
        }
    }
    void reject() { good_ = false; }

private:
    osc::ArgReader rest_;
    bool good_ = true;
};

} // namespace scs::top

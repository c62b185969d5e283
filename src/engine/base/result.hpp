// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace scs {

/// What went wrong, as one sentence for the person who sent the input.
struct Error {
    std::string what;
};

/// A value, or an error that says why there is none. Not for the render path, as Error owns a string.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    /// The value. The Result must be true in a boolean context.
    T& value() { return *std::get_if<0>(&state_); }
    const T& value() const { return *std::get_if<0>(&state_); }
    /// Why there is no value. The Result must be false in a boolean context.
    const std::string& error() const { return std::get_if<1>(&state_)->what; }

private:
    std::variant<T, Error> state_;
};

} // namespace scs

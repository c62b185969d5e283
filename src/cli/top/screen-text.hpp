// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace scs::top {

/// A number by printf()'s format, of 31 characters at most.
std::string number(const char* format, double value);

/// In %: with two decimals below 10, with one from there on.
std::string percent(double value);

/// Moved to the right of a column.
std::string right(const std::string& text, size_t width);

/// The first `columns` characters of printable text.
std::string cut(std::string text, int columns);

} // namespace scs::top

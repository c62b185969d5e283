// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

namespace scs {

/// A line of text for the log. What doesn't fit is cut off. [rt]
class TextLine {
public:
    [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept SCS_NONBLOCKING {
        va_list values;
        va_start(values, format);
        SCS_UNPROVEN_BEGIN // what is added here is converted on the stack
        const int length = std::vsnprintf(text_ + used_, sizeof text_ - used_, format, values);
        SCS_UNPROVEN_END
        va_end(values);
        used_ = std::min(used_ + size_t(std::max(length, 0)), sizeof text_ - 1);
    }
    void indent(int depth) noexcept { add("%*s", 3 * std::min(depth, 64), ""); }
    /// Returns the text and starts a new line. Valid until text is added to that.
    std::string_view take() noexcept { return {text_, std::exchange(used_, 0)}; }
    bool full() const noexcept { return used_ == sizeof text_ - 1; }

private:
    char text_[1000];
    size_t used_ = 0;
};

} // namespace scs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace scs::osc {

/// Makes lines of the pieces in which plugins print them. Each source has a line of its own under way. [one thread]
class LinePieces {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Emit = std::function<void(std::string_view line)>;

    static constexpr size_t most_sources = 64;   ///< with a line under way
    static constexpr size_t longest_line = 4096; ///< a longer one is cut into several
    /// A piece without a newline is printed after this time.
    static constexpr std::chrono::milliseconds patience{500};

    /// Adds text of a source, and emits the lines that are complete by it, without their newlines.
    void add(uint64_t source, std::string_view text, Time now, const Emit& emit);
    /// Emits the lines that have waited too long for their end.
    void emit_old(Time now, const Emit& emit);
    /// Whether there are lines under way.
    bool any() const noexcept { return !lines_.empty(); }

private:
    struct Line {
        std::string text;
        Time last;
    };
    std::map<uint64_t, Line> lines_;
};

} // namespace scs::osc

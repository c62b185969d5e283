// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace scs {

/// Keeps one kind of line from filling the log: some at once, then one in each interval. Not for several threads.
/// [any but rt]
class LineLimit {
public:
    using Clock = std::chrono::steady_clock;

    LineLimit(int at_once, std::chrono::milliseconds interval)
        : most_(at_once), left_(at_once), interval_(interval), counted_from_(Clock::now()) {}

    /// How many lines were left out since the last one, if another may be logged now.
    std::optional<uint64_t> pass(Clock::time_point now = Clock::now()) noexcept {
        if (const auto intervals = (now - counted_from_) / interval_; intervals > 0) {
            left_ = int(std::min<int64_t>(most_, left_ + intervals));
            counted_from_ += intervals * interval_;
        }
        if (left_ == 0) {
            ++left_out_;
            return {};
        }
        --left_;
        return std::exchange(left_out_, 0);
    }
    /// `line` if it may be logged now, with that number.
    std::optional<std::string> pass(std::string line, Clock::time_point now = Clock::now()) {
        const auto left_out = pass(now);
        if (!left_out)
            return {};
        if (*left_out > 0)
            line += " (" + std::to_string(*left_out) + " such lines were left out)";
        return line;
    }

private:
    int most_, left_;
    std::chrono::milliseconds interval_;
    Clock::time_point counted_from_;
    uint64_t left_out_ = 0;
};

} // namespace scs

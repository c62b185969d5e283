// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/line-pieces.hpp"

#include <utility>

namespace scs::osc {

void LinePieces::add(uint64_t source, std::string_view text, Time now, const Emit& emit) {
    if (lines_.size() >= most_sources && !lines_.contains(source))
        emit_old(now + patience, emit);
    Line& line = lines_[source];
    line.last = now;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        line.text += text.substr(0, end);
        for (; line.text.size() > longest_line; line.text.erase(0, longest_line))
            emit(std::string_view(line.text).substr(0, longest_line));
        if (end == text.npos)
            break;
        emit(std::exchange(line.text, {}));
        text.remove_prefix(end + 1);
    }
    if (line.text.empty())
        lines_.erase(source);
}

void LinePieces::emit_old(Time now, const Emit& emit) {
    for (auto at = lines_.begin(); at != lines_.end();) {
        if (now - at->second.last < patience) {
            ++at;
            continue;
        }
        emit(at->second.text);
        at = lines_.erase(at);
    }
}

} // namespace scs::osc

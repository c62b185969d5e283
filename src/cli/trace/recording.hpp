// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/trace/page.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace scs::trace {

/// What the pages of a recording say together.
struct Log {
    int threads = 1;
    std::vector<Event> events; ///< of each thread in the order of their ends
    int64_t dropped = 0;       ///< which the server had no room for
    int lost_pages = 0;        ///< which didn't come
};

/// Asks for a recording. Knows no sockets and no time: it is given what comes, and says what is to be sent.
class Recording {
public:
    using Packet = std::vector<std::byte>;
    enum class Step {
        ignored, ///< the message was none for this recording
        started, ///< it is to be read from now on
        page,    ///< one of what was asked for has come
        done,    ///< the last of them: the recording has ended and all is read
        failed,  ///< failure() says why
    };

    /// To be sent at first, and again if nothing comes.
    static Packet start();
    /// To be sent once it has started; each is answered by a page.
    Packet read() const;
    /// To be sent when it shall end.
    Packet stop() const;
    Step take(const osc::Message&);

    /// How many pages should be under way at once: more, as long as the server has more than these hold.
    int pages_wanted() const { return pages_wanted_; }
    /// Whether the server had all told with the last page.
    bool idle() const { return idle_; }
    /// Whether the server still records, as far as is known.
    bool on() const { return on_; }
    Log& log() { return log_; }
    const std::string& failure() const { return failure_; }

private:
    Step take_page(Page&&);
    Step take_failure(const osc::Message&);
    Step fail(std::string why);

    int32_t number_ = 0; ///< 0: it hasn't started
    int next_page_ = 0, pages_wanted_ = 1;
    bool on_ = true, idle_ = true;
    Log log_;
    std::string failure_;
};

} // namespace scs::trace
